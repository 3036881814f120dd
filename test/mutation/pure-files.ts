/** Files without I/O, and the tests that are to notice each mutant of them; the fewer, the sooner it is done. */
export interface PureGroup {
  /** Paths; after a `#` the one function of that file which is pure. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** Tests of minutes, for what the others do not notice. */
  readonly deeper?: readonly string[];
}

const REGISTRATION = "registrar/registration";
const MODEL = "registrar/model";

function mirrored(...names: readonly string[]): PureGroup {
  return {
    files: names.map((name) => `src/${name}.ts`),
    tests: names.map((name) => `test/${name}.test.ts`),
  };
}

/** What decides, parses and counts: those first that keep registrations alive. */
export const PURE_GROUPS: readonly PureGroup[] = [
  ...[`${REGISTRATION}/decisions`, `${REGISTRATION}/transition`, "unix/publish-steps"].map((name) => ({
    ...mirrored(name),
    deeper: ["test/exploration/exploration.test.ts", "test/exploration/replay.test.ts"],
  })),
  {
    files: ["src/registrar/driver/driver-events.ts#nameEvent", "src/registrar/node-wide/scan.ts#diff"],
    tests: ["test/registrar/driver/driver-events.test.ts", "test/registrar/node-wide/scan.test.ts"],
  },
  mirrored(`${REGISTRATION}/hints`),
  mirrored(`${MODEL}/inbox`),
  mirrored(`${MODEL}/tally`),
  mirrored("unix/socket-path"),
  mirrored("host-path/path-pattern"),
  mirrored("registrar/driver/driver-name"),
  mirrored("registrar/node-wide/admission"),
  mirrored("registrar/node-wide/name-lists"),
  mirrored("base/backoff", "kubelet-rules/api-validation"),
  mirrored("base/event-source"),
  mirrored("unix/mounts"),
  mirrored("host-path/host-path"),
  mirrored("diagnostics/http/request-head"),
  mirrored("diagnostics/endpoint"),
  mirrored("grpc/client/answer"),
  mirrored("grpc/guard/frames", "grpc/guard/call-allowance"),
  mirrored("node-readiness/condition", "node-readiness/startup-taint"),
  {
    files: ["src/node-readiness/keeper.ts"],
    tests: ["condition", "taint"].map((name) => `test/node-readiness/${name}-keeper.test.ts`),
  },
  mirrored("base/near-word", "options/read-options"),
  mirrored("flags/grammar", "flags/values"),
  mirrored("logging/escape", "logging/json-line", "logging/klog-text"),
  mirrored("logging/logging-options", "logging/repeats"),
  {
    files: ["names", "options", "template"].map((name) => `src/tools/manifest/${name}.ts`),
    tests: ["options", "examples"].map((name) => `test/tools/manifest/${name}.test.ts`),
  },
  {
    files: ["registrations", "places", "units", "needs", "groups"].map(
      (name) => `src/tools/doctor/cluster/judge/${name}.ts`,
    ),
    tests: ["report", "whole-report", "admitted", "driver-names"].map(
      (name) => `test/tools/doctor/cluster/${name}.test.ts`,
    ),
  },
  {
    files: ["limits", "probes"].map((name) => `src/tools/doctor/manifest/judge/${name}.ts`),
    tests: ["limits", "settings", "probes", "paths"].map(
      (name) => `test/tools/doctor/manifest/${name}.test.ts`,
    ),
  },
  {
    files: ["src/tools/doctor/findings/table.ts", "src/tools/doctor/findings/words.ts"],
    tests: ["tools/doctor/findings/table", "tools/doctor/manifest/table", "docs/doctor-page"].map(
      (name) => `test/${name}.test.ts`,
    ),
  },
];
