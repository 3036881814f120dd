import { join } from "node:path";

/** Files without I/O, and the tests that are to notice each mutant of them; the fewer, the sooner it is done. */
export interface PureGroup {
  /** Paths; after a `#` the one function of that file which is pure. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** Tests that take long, for what the others do not notice. */
  readonly deeper?: readonly string[];
}

const REGISTRATION = "registrar/registration";
const MODEL = "registrar/model";

function groupOf(
  folder: string,
  files: readonly string[],
  testFolder: string,
  tests: readonly string[],
): PureGroup {
  return {
    files: files.map((name) => join("src", folder, `${name}.ts`)),
    tests: tests.map((name) => join("test", testFolder, `${name}.test.ts`)),
  };
}

const mirrored = (...names: readonly string[]) => groupOf("", names, "", names);
const alone = (name: string) => mirrored(name);

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
  ...[`${REGISTRATION}/hints`, `${MODEL}/inbox`, `${MODEL}/tally`, "registrar/driver/driver-name"].map(alone),
  ...["registrar/node-wide/admission", "registrar/node-wide/name-lists", "base/event-source"].map(alone),
  ...["unix/socket-path", "unix/mounts", "host-path/path-pattern", "host-path/host-path"].map(alone),
  ...["diagnostics/http/request-head", "diagnostics/endpoint", "grpc/client/answer"].map(alone),
  mirrored("base/backoff", "kubelet-rules/api-validation"),
  mirrored("grpc/guard/frames", "grpc/guard/call-allowance"),
  mirrored("node-readiness/condition", "node-readiness/startup-taint"),
  groupOf("node-readiness", ["keeper"], "node-readiness", ["condition-keeper", "taint-keeper"]),
  mirrored("base/near-word", "options/read-options"),
  alone("flags/values"),
  groupOf("flags", ["grammar"], "flags", ["grammar", "command-flags"]),
  groupOf("logging", ["escape", "json-line", "klog-text"], "logging", [
    ...["escape", "json-line", "klog-text", "injection"],
  ]),
  mirrored("logging/logging-options", "logging/repeats"),
  groupOf("tools/manifest", ["names", "options", "template"], "tools/manifest", ["options", "examples"]),
  {
    ...groupOf(
      "tools/doctor/cluster/judge",
      ["registrations", "places", "units", "needs", "groups"],
      "tools/doctor/cluster",
      ["report", "whole-report", "admitted", "driver-names", "ordinary"],
    ),
    deeper: ["test/tools/doctor/cluster/unread.test.ts"],
  },
  groupOf("tools/doctor/files/judge", ["limits", "probes"], "tools/doctor/files", [
    ...["limits", "settings", "probes", "paths"],
  ]),
  groupOf("tools/doctor/findings", ["table", "words"], "", [
    "tools/doctor/findings/table",
    "docs/doctor-page",
  ]),
];
