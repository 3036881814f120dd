import { flagTable, isProbeMode, nearestFlag, parseFlags } from "../../src/flags/table";
import { flagsOf } from "./support";

test("without arguments every flag has its typed default", () => {
  expect(flagsOf()).toMatchObject({
    ...{ csiAddress: "/run/csi/socket", timeoutMs: 1000, logFlushFrequencyMs: 5000, vmodule: [], v: 0 },
    ...{ enablePprof: false, removeStartupTaint: [], driverTimeoutMs: 0, onRegistrationFailure: "exit" },
    ...{ given: new Set(), ignored: [], rest: [] },
    every: { csiAddress: [], kubeletRegistrationPath: [] },
  });
});

/** The release that brought each flag, as the tags of kubernetes-csi/node-driver-registrar show; none is refused. */
const releases: [release: string, ...flags: string[]][] = [
  ["v1.0.0-rc1", "--connection-timeout=1m", "--csi-address=x", "--kubelet-registration-path=x"],
  ["v1.0.0-rc1", "--version", "--v=5", "--vmodule=x=1"],
  ["v1.0.0-rc1, gone in v1.0.2", "--kubeconfig=x"],
  ["v1.0.0-rc1, gone in v2.11", "--logtostderr", "--alsologtostderr", "--stderrthreshold=2", "--log_dir=x"],
  ["v1.0.0-rc1, gone in v2.11", "--log_backtrace_at=x.go:1"],
  ["v1.1.0, gone in v2.11", "--log_file=x", "--skip_headers"],
  ["v2.0.0, gone in v2.11", "--log_file_max_size=1", "--add_dir_header", "--skip_log_headers"],
  ["v2.0.0", "--plugin-registration-path=x", "--health-port=1"],
  ["v2.1.0", "--timeout=1s", "--http-endpoint=:1"],
  ["v2.1.0, gone in v2.11", "--one_output"],
  ["v2.3.0", "--mode=registration"],
  ["v2.4.0", "--enable-pprof"],
  ["v2.11.0", "--logging-format=json", "--log-flush-frequency=1s", "--log-json-split-stream"],
  ["v2.11.0", "--log-json-info-buffer-size=1Ki", "--log-text-info-buffer-size=1Ki"],
  ["v2.11.0", "--log-text-split-stream"],
  ["v2.14.0", "--automaxprocs"],
];

test.each(releases)("flags of %s are accepted", (_release, ...argv) => {
  expect(flagsOf(...argv, "--version=true")).toMatchObject({ version: true, rest: [] });
});

test("the table has no flag but the official's and ours", () => {
  const official = releases.flatMap(([, ...argv]) => argv.map((word) => word.replace(/^--|=.*$/g, "")));
  const { dropIn, ours, deprecated, removed } = flagTable;
  const names = [dropIn, ours, deprecated, removed].flatMap((group) => Object.keys(group));
  expect(new Set(names)).toEqual(new Set([...official, ...Object.keys(ours)]));
  expect(names).toHaveLength(new Set(names).size);
});

const rule = (pattern: string, verbosity: number) => ({ pattern, verbosity });

test.each<[what: string, words: string, flags: object]>([
  ["typed", "--timeout=1m30s -driver-timeout=-500us", { timeoutMs: 90_000, driverTimeoutMs: -0.5 }],
  ["typed", "-v=5 --health-port=0x1F --version=0", { v: 5, healthPort: 31, version: false }],
  ["typed", "--log-text-info-buffer-size=2Ki", { logTextInfoBufferSize: 2 }],
  [
    "typed",
    "--on-registration-failure=retry --require-driver",
    { onRegistrationFailure: "retry", requireDriver: true },
  ],
  ["as the last one", "-csi-address /old --csi-address=/csi.sock", { csiAddress: "/csi.sock" }],
  [
    "all together for patterns",
    "--csi-address=/a/*/s --csi-address /b/*/s --kubelet-registration-path=/k/*/s",
    { every: { csiAddress: ["/a/*/s", "/b/*/s"], kubeletRegistrationPath: ["/k/*/s"] } },
  ],
  [
    "added to the former",
    "--vmodule=a=1,b=2 --vmodule= --vmodule=a=3",
    { vmodule: [rule("a", 1), rule("b", 2), rule("a", 3)] },
  ],
  [
    "told from the same default",
    "--plugin-registration-path=/registration --kubelet-registration-path= --logtostderr",
    { given: new Set(["plugin-registration-path", "kubelet-registration-path"]) },
  ],
  [
    "reported once each",
    "--logtostderr --logtostderr=false -stderrthreshold 2",
    { ignored: ["logtostderr", "stderrthreshold"] },
  ],
])("values arrive %s: %s", (_what, words, flags) => {
  expect(flagsOf(...words.split(" "))).toMatchObject(flags);
});

test.each([[], ["="], ["=1"], ["=true"]])("--automaxprocs%s parses as true", (value = "") => {
  expect(flagsOf(`--automaxprocs${value}`).automaxprocs).toBe(true);
});

/** The official's first line on stderr; those of the last three flags are in its form. */
test.each<[string, string | RegExp]>([
  ["-x", "flag provided but not defined: -x"],
  ["-v=-1", 'invalid value "-1" for flag -v: strconv.ParseUint: parsing "-1": invalid syntax'],
  ["--health-port=70000x", 'invalid value "70000x" for flag -health-port: parse error'],
  ["--vmodule=a", 'invalid value "a" for flag -vmodule: "a" does not have the pattern=N format'],
  ["--automaxprocs=x", /^invalid boolean value "x" for -automaxprocs: strconv.ParseBool: parsing "x"/],
  ["--enable-pprof=", 'invalid boolean value "" for -enable-pprof: parse error'],
  ["--on-registration-failure=stay", /^invalid value "stay" for .*: must be one of exit, retry$/],
])("%s is refused: %s", (word, message) => {
  const said = typeof message === "string" ? message : expect.stringMatching(message);
  expect(parseFlags([word, "--help"])).toMatchObject({ kind: "error", message: said });
});

test("a mistyped flag, or an option's name, suggests the flag that was meant", () => {
  const words = ["csi-adress", "endpoint", "frobnicate", undefined];
  const meant = ["csi-address", "kubelet-registration-path", undefined, undefined];
  expect(words.map(nearestFlag)).toEqual(meant);
});

const NORMAL = ["", "constructor", "registration", "node-register", "kubelet", "normal", "probes-are-off"];

const PROBES = ["health-probe", "ready-probe", "kubelet-registration-probe"];

test.each([...NORMAL, ...PROBES])("the mode %j is taken, and only a probe's starts no normal run", (mode) => {
  expect(parseFlags([`--mode=${mode}`])).toMatchObject({ kind: "flags", flags: { mode } });
  expect(isProbeMode(mode)).toBe(PROBES.includes(mode));
});

test.each<readonly [mode: string, why: string]>([
  ...["helth-probe", "HEALTH_PROBE", "health", "healthz", "live", "livez", "LIVENESS"].map(
    (mode) => [mode, "did you mean health-probe?"] as const,
  ),
  ...["ready", "Readyz", "readiness"].map((mode) => [mode, "did you mean ready-probe?"] as const),
  ["kubelet-registraton-probe", "did you mean kubelet-registration-probe?"],
  ...["livenessProbe", "probe"].map(
    (mode) => [mode, "the probes are health-probe, ready-probe, kubelet-registration-probe"] as const,
  ),
])("the mode %s, meant as a probe, is no normal run: %s", (mode, why) => {
  expect(parseFlags([`--mode=${mode}`])).toEqual({
    kind: "error",
    message: `invalid value "${mode}" for flag -mode: ${why}`,
  });
});

test("--controllers takes node-driver-registrar alone; another list is a usage error", () => {
  const parse = (list: string) => parseFlags([`--controllers=${list}`]);
  expect(parse("node-driver-registrar")).toMatchObject({ kind: "flags", flags: { ignored: [] } });
  const message = expect.stringContaining("-registrar alone");
  for (const list of ["attacher", "node-driver-registrar,livenessprobe", "*"])
    expect(parse(list)).toMatchObject({ kind: "error", message });
});
