/** Files without I/O, and the tests that are to notice each mutant of them; the fewer, the sooner it is done. */
export interface PureGroup {
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

const REGISTRATION = "registrar/registration";
const DRIVER = "registrar/driver";

/** A group of files whose tests are their mirrors. */
function mirrored(...names: readonly string[]): PureGroup {
  return {
    files: names.map((name) => `src/${name}.ts`),
    tests: names.map((name) => `test/${name}.test.ts`),
  };
}

/** What decides, parses and counts: those first that keep registrations alive. */
export const PURE_GROUPS: readonly PureGroup[] = [
  mirrored(`${REGISTRATION}/transition`),
  mirrored(`${REGISTRATION}/hints`),
  mirrored(`${REGISTRATION}/inbox`, `${REGISTRATION}/tally`),
  mirrored(`${DRIVER}/driver-name`, `${DRIVER}/csi-address`, `${DRIVER}/driver-presence`),
  mirrored("registrar/node-wide/admission", "registrar/node-wide/path-pattern"),
  mirrored("backoff", "resource-name", "mounts"),
  mirrored("event-source"),
  mirrored("host-path"),
  mirrored("grpc/hpack/decoder", "grpc/hpack/encoder", "grpc/hpack/huffman"),
  mirrored("grpc/http2/chunk-reader", "grpc/send-windows"),
  mirrored("grpc/request-fields", "grpc/acceptor-limits", "grpc/failure-text", "grpc/unary-request"),
  mirrored("diagnostics/http/request-head", "diagnostics/listen-address"),
  mirrored("cli/go-values", "cli/go-flags", "cli/klog-values"),
  mirrored("logging/escape", "logging/glob", "logging/klog-text", "logging/klog-json", "logging/vmodule"),
  mirrored("options/near-word"),
  mirrored("node-readiness/condition", "node-readiness/startup-taint"),
];
