import { resolve } from "node:path";
import { warnAboutFlags } from "../../src/cli/flag-warnings";
import { parseFlags } from "../../src/cli/flags";
import { recordLog } from "../support/recorded-log";

const HOST_SOCKET = "/var/lib/kubelet/plugins/x.csi/csi.sock";

/** What is said about a command line: severity, message and fields of each line. */
function linesFor(
  argv: readonly string[],
  kubeletRegistrationPath = HOST_SOCKET,
  assumed: { flag: string; value: string }[] = [],
) {
  const line = parseFlags(argv);
  if (line.kind !== "flags") throw new Error(`not a command line: ${argv}`);
  const log = recordLog();
  const paths = {
    kind: "paths",
    kubeletRegistrationPath,
    pluginRegistrationPath: "/registration",
    assumed,
  } as const;
  // What the mounts of a container show is in the tests of host paths.
  warnAboutFlags(line.flags, paths, log.logger, []);
  return log.records.map(({ severity, message, fields }) => [severity, message, fields]);
}

test("an ordinary sidecar's arguments are not spoken of", () => {
  expect(
    linesFor([
      "--v=5",
      "--csi-address=/csi/csi.sock",
      `--kubelet-registration-path=${HOST_SOCKET}`,
      "--http-endpoint=:9809",
    ]),
  ).toEqual([]);
});

test.each<[readonly string[], unknown[][]]>([
  [
    ["--connection-timeout=30s"],
    [["info", "--connection-timeout is deprecated and will have no effect", {}]],
  ],
  [
    ["--health-port=9809"],
    [["warning", "Flag is deprecated", { flag: "--health-port", instead: "use --http-endpoint=:PORT" }]],
  ],
  [
    ["--logtostderr", "--kubeconfig=/x"],
    [["warning", "Flags of former releases are ignored", { flags: "--logtostderr --kubeconfig" }]],
  ],
  [
    ["--v=5", "register", "--timeout=3s"],
    [
      [
        "warning",
        "Words behind the flags are ignored, and so is every flag among them",
        { words: "register --timeout=3s" },
      ],
    ],
  ],
  [["--enable-pprof"], [["warning", "--enable-pprof has no effect without --http-endpoint", {}]]],
  [["--enable-pprof", "--http-endpoint=localhost:9809"], []],
  [["--enable-pprof", "--http-endpoint=[::1]:9809"], []],
])("%j", (argv, lines) => {
  expect(linesFor(argv)).toEqual(lines);
});

test.each([":9809", "0.0.0.0:9809", "[::]:9809"])("profiles on %s are open to all", (endpoint) => {
  expect(linesFor(["--enable-pprof", `--http-endpoint=${endpoint}`])).toEqual([
    ["warning", "Everybody who reaches this host can read the profiles: listen on localhost", { endpoint }],
  ]);
});

test("profiles on the deprecated port are open to all", () => {
  expect(linesFor(["--enable-pprof", "--health-port=9809"])).toContainEqual([
    "warning",
    "Everybody who reaches this host can read the profiles: listen on localhost",
    expect.anything(),
  ]);
});

test("what was assumed is told, flag by flag", () => {
  const assumed = [
    { flag: "plugin-registration-path", value: "/a" },
    { flag: "kubelet-registration-path", value: "/b" },
  ];
  expect(linesFor([], HOST_SOCKET, assumed)).toEqual(
    assumed.map(({ flag, value }) => [
      "info",
      "Not in a container, assuming the paths of this node",
      { flag: `--${flag}`, value },
    ]),
  );
});

test.each([
  ["csi.sock", "the path is not absolute"],
  [`/${"n".repeat(107)}`, "the path has 108 bytes, a unix socket path may have 107"],
  ["/var/lib/kubelet/plugins_registry/x/csi.sock", "it is in plugins_registry"],
])("a doubtful path for kubelet is warned of, not refused: %s", (path, problem) => {
  expect(linesFor([], path)).toEqual([
    [
      "warning",
      "Kubelet will hardly reach the driver",
      { kubeletRegistrationPath: path, problem: expect.stringContaining(problem) },
    ],
  ]);
});

test("a path of 107 bytes is not doubted", () => {
  expect(linesFor([], `/${"n".repeat(106)}`)).toEqual([]);
});

test.each([
  ["unix://csi/csi.sock", "csi/csi.sock"],
  ["unix:csi.sock", "csi.sock"],
])("a relative CSI address is warned of, with the path that it means: %s", (csiAddress, path) => {
  expect(linesFor(["--csi-address=/replaced", `--csi-address=${csiAddress}`])).toContainEqual([
    "warning",
    "CSI address is relative to the working directory, an absolute one begins with unix:///",
    { csiAddress, path: resolve(path) },
  ]);
});

test.each(["/csi/csi.sock", "unix:///csi/csi.sock", "unix:/csi/csi.sock", "unix:@abstract", "nonsense", ""])(
  "no such warning of %j",
  (csiAddress) => {
    expect(linesFor([`--csi-address=${csiAddress}`])).toEqual([]);
  },
);

const NODE_WIDE = ["--csi-address=/p/*/s", "--kubelet-registration-path=/h/*/s"];

test.each<[string, readonly string[], unknown[][]]>([
  ["patterns are not spoken of", [...NODE_WIDE, "--driver-gone-after=1m", "--deny-drivers=a"], []],
  [
    "what only patterns have",
    ["--driver-gone-after=1m", "--allow-drivers=a", "--deny-drivers=b"],
    [
      [
        "warning",
        "Flags have no effect without * in the paths",
        { flags: "--driver-gone-after --allow-drivers --deny-drivers" },
      ],
    ],
  ],
  [
    "what only one driver has",
    [...NODE_WIDE, "--driver-timeout=1m", "--on-registration-failure=exit"],
    [
      [
        "warning",
        "Flags have no effect with * in the paths",
        { flags: "--driver-timeout --on-registration-failure" },
      ],
    ],
  ],
  [
    "several paths without a pattern",
    ["--csi-address=/a", "--csi-address=/b", "--kubelet-registration-path=/c"],
    [
      [
        "warning",
        "Paths are given more than once: without * in any of them only the last counts",
        { csiAddress: "/b", kubeletRegistrationPath: "/c" },
      ],
    ],
  ],
  [
    "what looks like a pattern and is none",
    ["--csi-address=/p/?/s", "--kubelet-registration-path=/h/{a,b}/s"],
    ["/p/?/s", "/h/{a,b}/s"].map((path) => [
      "warning",
      "Only * is special in a path, all else is taken as it is",
      { path },
    ]),
  ],
  [
    "each of several relative CSI addresses",
    [...NODE_WIDE, "--csi-address=unix://a/*/s", "--csi-address=unix://b/*/s"],
    ["a", "b"].map((folder) => [
      "warning",
      expect.stringContaining("relative"),
      { csiAddress: `unix://${folder}/*/s`, path: resolve(folder, "*/s") },
    ]),
  ],
  [
    "each of several paths for kubelet",
    [...NODE_WIDE, "--csi-address=/q/*/s", "--kubelet-registration-path=/var/plugins_registry/*/s"],
    [
      [
        "warning",
        "Kubelet will hardly reach the driver",
        expect.objectContaining({ kubeletRegistrationPath: "/var/plugins_registry/*/s" }),
      ],
    ],
  ],
])("%s", (_, argv, lines) => {
  expect(linesFor(argv)).toEqual(lines);
});
