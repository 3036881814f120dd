import { inspect } from "node:util";
import { nodeReadinessOptionsOf, startProblemOf } from "../../src/flags/node-readiness";
import { nameListsFrom, patternPairsOf } from "../../src/flags/paths";
import { endpointOf, registrationOf, wantsNodeReadiness } from "../../src/flags/start-options";
import type { Flags } from "../../src/flags/table";
import { flagsOf } from "./support";

const PATHS = {
  one: "--csi-address=/c/s --kubelet-registration-path=/k/s",
  all: "--csi-address=/c/*/s --kubelet-registration-path=/k/*/s",
};

/** What the registrar is started with by these flags: a line for each option. */
function optionsBy(flags: Flags): readonly string[] {
  const { kubeletRegistrationPath: endpoint, pluginRegistrationPath } = flags;
  const { kind, options } = registrationOf(flags, { endpoint, pluginRegistrationPath });
  const readiness = wantsNodeReadiness(flags) ? nodeReadinessOptionsOf(flags) : undefined;
  return Object.entries({ kind, ...options, http: endpointOf(flags), ...readiness }).map(
    ([name, value]) =>
      `${name}: ${inspect(value, { depth: 9, breakLength: Number.POSITIVE_INFINITY, compact: 9 })}`,
  );
}

/** The options for the paths of one driver or of all, where they differ from those without `words`; or why nothing starts. */
function outcomeOf(paths: keyof typeof PATHS, words: string): readonly string[] {
  const read = (line: string) => flagsOf(...line.split(" ").filter(Boolean));
  const flags = read(`${PATHS[paths]} ${words}`);
  const problem = startProblemOf(flags);
  if (problem !== undefined) return [`no start: ${problem}`];
  const usual = words === "" ? [] : optionsBy(read(PATHS[paths]));
  return optionsBy(flags).filter((option) => !usual.includes(option));
}

const TIMES = ["1ms", "0s", "-1s", "596h", "597h"].flatMap((time) =>
  ["timeout", "driver-timeout", "driver-gone-after", "node-condition-delay"].map(
    (flag) => `--${flag}=${time}`,
  ),
);
const ENDPOINTS = ["", ":", ":0", ":9809", "localhost:1", "[::1]:2", "h:65535", "h:65536", "9809", "h"].map(
  (endpoint) => `--http-endpoint=${endpoint}`,
);
const METRICS_PATHS = ["/m", "m", "/healthz", "/debug/pprof/", "/debug/pprof/x", ""].flatMap((path) =>
  ["--http-endpoint=:1 ", "--http-endpoint=:1 --enable-pprof ", ""].map(
    (more) => `${more}--metrics-path=${path}`,
  ),
);
const READINESS = [
  "--remove-startup-taint=x/y",
  "--remove-startup-taint={driver}/y --remove-startup-taint= --remove-startup-taint={driver}/z:NoExecute",
  "--remove-startup-taint=a_/b_",
  "--node-condition=Ready",
  "--node-condition=x/Y --node-condition-delay=5s",
  "--node-condition={driver}/Y --remove-startup-taint={driver}/x",
];

test("what each flag changes at the start of one driver's registrar and of a node's, or why that does not start", () => {
  const ofBoth = [
    ...[
      "",
      "--reregister-on-driver-restart --require-driver",
      ...TIMES,
      ...READINESS,
      "--csi-address=/d/*/s",
    ],
    ...["/r/", "", "unix:///r"].map((path) => `--plugin-registration-path=${path}`),
  ];
  const ofOne = [
    ...[...ENDPOINTS, "--health-port=9809", "--health-port=-1", "--health-port=70000", ...METRICS_PATHS],
    ...["--health-port=1 --http-endpoint=:2", "--health-port=-1 --http-endpoint=:2"],
    ...["unix:///d/s", "tcp://d", "d"].map((address) => `--csi-address=${address}`),
    ...["--on-registration-failure=retry", "--kubelet-registration-path=", "--allow-drivers=,"],
    ...["--logging-format=xml", "--logging-format=json --vmodule=a=1", "--log-flush-frequency=0"],
  ];
  const ofAll = [
    ...["a", "a,b=/p/s", "\ta\t,", ",", "", "a=/x/*/s", "a=/x/**/s"].flatMap((names) =>
      ["allow", "deny"].map((list) => `--${list}-drivers=${names}`),
    ),
    ...["--allow-drivers=a,b --deny-drivers=b", "--csi-address=/d/*/s --kubelet-registration-path=/l/x/s"],
    "--csi-address=/d/*/s --kubelet-registration-path=/l/*/s",
  ];
  const rows = [
    ...[...ofBoth, ...ofOne].map((words) => ["one", words] as const),
    ...[...ofBoth, ...ofAll].map((words) => ["all", words] as const),
  ];
  const texts = rows.map(([paths, words]) => [`${paths} ${words}`, ...outcomeOf(paths, words)].join("\n  "));
  expect(["", ...texts, ""].join("\n").replaceAll(`${process.cwd()}/`, "<cwd>/")).toMatchSnapshot();
});

test("a command without the flags of names allows every driver, and refuses an empty list", () => {
  expect(nameListsFrom({})).toEqual(nameListsFrom(flagsOf()));
  expect(() => nameListsFrom({ allowDrivers: "" })).toThrow("names no driver");
});

test("without a path for kubelet each pattern is its own", () => {
  expect(patternPairsOf(flagsOf("--csi-address=/c/*/s"))).toEqual(
    patternPairsOf(flagsOf("--csi-address=/c/*/s", "--kubelet-registration-path=/c/*/s")),
  );
});
