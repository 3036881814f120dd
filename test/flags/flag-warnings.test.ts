import { resolve } from "node:path";
import { warnAboutFlags } from "../../src/flags/flag-warnings";
import { parseFlags } from "../../src/flags/table";
import { recordLog } from "../support/recorded-log";

const HOST_SOCKET = "/var/lib/kubelet/plugins/x.csi/csi.sock";

/** What is logged about a command line: severity, message and fields of each line. */
async function linesFor(
  argv: readonly string[],
  kubeletRegistrationPath = HOST_SOCKET,
  assumed: { flag: string; value: string }[] = [],
) {
  const line = parseFlags(argv);
  if (line.kind !== "flags") throw new Error(`not a command line: ${argv}`);
  const log = recordLog();
  const pluginRegistrationPath = "/registration";
  const paths = { kind: "paths", kubeletRegistrationPath, pluginRegistrationPath, assumed } as const;
  // What the mounts of a container show is in the tests of host paths.
  await warnAboutFlags(line.flags, paths, log.logger, []);
  return log.records.map(({ severity, message, fields }) => [severity, message, fields]);
}

const NODE_WIDE = ["--csi-address=/p/*/s", "--kubelet-registration-path=/h/*/s"];

test.each([
  `--v=5 --csi-address=/csi/csi.sock --kubelet-registration-path=${HOST_SOCKET} --http-endpoint=:9809`,
  "--log-flush-frequency=1s --log-text-info-buffer-size=1Ki --log-json-info-buffer-size=2M --automaxprocs",
  "--enable-pprof --http-endpoint=localhost:9809",
  "--enable-pprof --http-endpoint=[::1]:9809",
  "--csi-address=unix:///csi/csi.sock",
  "--csi-address=unix:/csi/csi.sock",
  "--csi-address=unix:@abstract",
  "--csi-address=nonsense",
  "--csi-address=",
  `${NODE_WIDE.join(" ")} --driver-gone-after=1m --deny-drivers=a`,
])("no warning: %s", async (words) => {
  expect(await linesFor(words.split(" "))).toEqual([]);
});

const OPEN_TO_ALL = "Profiles can be read by every client that reaches this host: listen on localhost";
const RELATIVE = "CSI address is relative to the working directory, an absolute one begins with unix:///";
const TWICE = "Paths are given more than once: without * in any of them only the last counts";
const IGNORED_WORDS = "Words after the flags are ignored, and so is every flag among them";

test.each<[words: string, ...warnings: (readonly [message: string, fields: object])[]]>([
  [
    "--health-port=9809",
    ["Flag is deprecated", { flag: "--health-port", instead: "use --http-endpoint=:PORT" }],
  ],
  [
    "--logtostderr --kubeconfig=/x",
    ["Flags of former releases are ignored", { flags: "--logtostderr --kubeconfig" }],
  ],
  ["--v=5 register --timeout=3s", [IGNORED_WORDS, { words: "register --timeout=3s" }]],
  ["--enable-pprof", ["--enable-pprof has no effect without --http-endpoint", {}]],
  ["--enable-pprof --http-endpoint=:9809", [OPEN_TO_ALL, { endpoint: ":9809" }]],
  ["--enable-pprof --http-endpoint=0.0.0.0:9809", [OPEN_TO_ALL, { endpoint: "0.0.0.0:9809" }]],
  ["--enable-pprof --http-endpoint=[::]:9809", [OPEN_TO_ALL, { endpoint: "[::]:9809" }]],
  [
    "--enable-pprof --health-port=9809",
    ["Flag is deprecated", expect.anything()],
    [OPEN_TO_ALL, expect.anything()],
  ],
  [
    "--driver-gone-after=1m --allow-drivers=a --deny-drivers=b",
    [
      "Flags have no effect without * in the paths",
      { flags: "--driver-gone-after --allow-drivers --deny-drivers" },
    ],
  ],
  [
    `${NODE_WIDE.join(" ")} --driver-timeout=1m --on-registration-failure=exit`,
    ["Flags have no effect with * in the paths", { flags: "--driver-timeout --on-registration-failure" }],
  ],
  [
    "--csi-address=/a --csi-address=/b --kubelet-registration-path=/c",
    [TWICE, { csiAddress: "/b", kubeletRegistrationPath: "/c" }],
  ],
  ["--mode=registration", ["Flag is deprecated", { flag: "--mode", instead: expect.anything() }]],
  [
    "--csi-address=/replaced --csi-address=unix://csi/csi.sock",
    [TWICE, expect.anything()],
    [RELATIVE, { csiAddress: "unix://csi/csi.sock", path: resolve("csi/csi.sock") }],
  ],
  ["--csi-address=unix:csi.sock", [RELATIVE, { csiAddress: "unix:csi.sock", path: resolve("csi.sock") }]],
  [
    `${NODE_WIDE.join(" ")} --csi-address=unix://a/*/s --csi-address=unix://b/*/s`,
    [RELATIVE, { csiAddress: "unix://a/*/s", path: resolve("a/*/s") }],
    [RELATIVE, { csiAddress: "unix://b/*/s", path: resolve("b/*/s") }],
  ],
  [
    `${NODE_WIDE.join(" ")} --csi-address=/q/*/s --kubelet-registration-path=/var/plugins_registry/*/s`,
    [
      "Kubelet probably cannot reach the driver",
      expect.objectContaining({ kubeletRegistrationPath: "/var/plugins_registry/*/s" }),
    ],
  ],
])("%s", async (words, ...warnings) => {
  expect(await linesFor(words.split(" "))).toEqual(warnings.map((warning) => ["warning", ...warning]));
});

test("the official's line about --connection-timeout", async () => {
  const message = "--connection-timeout is deprecated and will have no effect";
  expect(await linesFor(["--connection-timeout=30s"])).toEqual([["info", message, {}]]);
});

test("each assumption is logged with its flag", async () => {
  const message = "Not in a container, assuming the paths of this node";
  expect(await linesFor([], HOST_SOCKET, [{ flag: "plugin-registration-path", value: "/a" }])).toEqual([
    ["info", message, { flag: "--plugin-registration-path", value: "/a" }],
  ]);
});

test.each([
  ["csi.sock", "the path is not absolute"],
  [`/${"n".repeat(107)}`, "the path has 108 bytes, a unix socket path may have 107"],
  ["/var/lib/kubelet/plugins_registry/x/csi.sock", "it is in plugins_registry"],
])("a doubtful path for kubelet is warned of, not refused: %s", async (path, problem) => {
  const fields = { kubeletRegistrationPath: path, problem: expect.stringContaining(problem) };
  expect(await linesFor([], path)).toEqual([["warning", "Kubelet probably cannot reach the driver", fields]]);
  expect(await linesFor([], `/${"n".repeat(106)}`)).toEqual([]);
});
