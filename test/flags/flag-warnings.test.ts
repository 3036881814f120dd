import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { warnAboutFlags } from "../../src/flags/flag-warnings";
import type { Paths } from "../../src/flags/paths";
import type { Mount } from "../../src/unix/mounts";
import { leaveDeadSocket } from "../support/foreign-socket";
import { recordLog } from "../support/recorded-log";
import { createTempFolder } from "../support/temp-folder";
import { flagsOf } from "./support";

const HOST_SOCKET = "/var/lib/kubelet/plugins/x.csi/csi.sock";

/** What is logged about a command line: severity, message and fields of each line. */
async function linesFor(
  words: string,
  { mounts = [], ...given }: Partial<Paths> & { readonly mounts?: readonly Mount[] } = {},
) {
  const log = recordLog();
  const own = { endpoint: HOST_SOCKET, pluginRegistrationPath: "/registration", assumed: [] };
  const paths = { kind: "paths", ...own, ...given } as Paths;
  await warnAboutFlags(flagsOf(...words.split(" ").filter(Boolean)), paths, log.logger, mounts);
  return log.records.map(
    ({ severity, message, fields }) => `${severity}: ${message} ${JSON.stringify(fields)}`,
  );
}

const NODE_WIDE = "--csi-address=/p/*/s --kubelet-registration-path=/h/*/s";

test.each([
  `--v=5 --csi-address=/csi/csi.sock --kubelet-registration-path=${HOST_SOCKET} --http-endpoint=:9809`,
  "--log-flush-frequency=1s --log-text-info-buffer-size=1Ki --log-json-info-buffer-size=2M --automaxprocs",
  "--enable-pprof --http-endpoint=localhost:9809",
  "--enable-pprof --http-endpoint=[::1]:9809",
  ...["unix:///csi/csi.sock", "unix:/csi/csi.sock", "unix:@abstract", "nonsense", "/unix:a/csi.sock", ""].map(
    (address) => `--csi-address=${address}`,
  ),
  `${NODE_WIDE} --driver-gone-after=1m --deny-drivers=a`,
])("no warning: %s", async (words) => {
  expect(await linesFor(words)).toEqual([]);
});

const warning = (message: string, fields: object = {}) => `warning: ${message} ${JSON.stringify(fields)}`;
const HEALTH_PORT = warning("Flag is deprecated", {
  flag: "--health-port",
  instead: "use --http-endpoint=:PORT",
});
const openToAll = (endpoint: string) =>
  warning("Profiles can be read by every client that reaches this host: listen on localhost", { endpoint });
const relative = (csiAddress: string, path: string) =>
  warning("CSI address is relative to the working directory, an absolute one begins with unix:///", {
    csiAddress,
    path: resolve(path),
  });
const twice = (csiAddress: string, kubeletRegistrationPath: string) =>
  warning("Paths are given more than once: without * in any of them only the last counts", {
    csiAddress,
    kubeletRegistrationPath,
  });
const unreachable = (kubeletRegistrationPath: string, problem: string) =>
  warning("Kubelet probably cannot reach the driver", { kubeletRegistrationPath, problem });
const IN_REGISTRY = "it is in plugins_registry, among registration sockets";

test.each<[words: string, ...lines: string[]]>([
  ["--health-port=9809", HEALTH_PORT],
  [
    "--mode=registration",
    warning("Flag is deprecated", {
      flag: "--mode",
      instead: "leave it out; probe with --mode=health-probe or /healthz",
    }),
  ],
  ["--connection-timeout=30s", "info: --connection-timeout is deprecated and will have no effect {}"],
  [
    "--logtostderr --kubeconfig=/x",
    warning("Flags of former releases are ignored", { flags: "--logtostderr --kubeconfig" }),
  ],
  [
    "--v=5 register --timeout=3s",
    warning("Words after the flags are ignored, and so is every flag among them", {
      words: "register --timeout=3s",
    }),
  ],
  ["--enable-pprof", warning("--enable-pprof has no effect without --http-endpoint")],
  ["--enable-pprof --http-endpoint=:9809", openToAll(":9809")],
  ["--enable-pprof --http-endpoint=0.0.0.0:9809", openToAll("0.0.0.0:9809")],
  ["--enable-pprof --http-endpoint=[::]:9809", openToAll("[::]:9809")],
  ["--enable-pprof --health-port=9809", HEALTH_PORT, openToAll(":9809")],
  [
    "--driver-gone-after=1m --allow-drivers=a --deny-drivers=b",
    warning("Flags have no effect without * in the paths", {
      flags: "--driver-gone-after --allow-drivers --deny-drivers",
    }),
  ],
  [
    `${NODE_WIDE} --driver-timeout=1m --on-registration-failure=retry`,
    warning("Flags have no effect with * in the paths", {
      flags: "--driver-timeout --on-registration-failure",
    }),
  ],
  ["--csi-address=/a --csi-address=/b --kubelet-registration-path=/c", twice("/b", "/c")],
  ["--csi-address=/b --kubelet-registration-path=/c --kubelet-registration-path=/d", twice("/b", "/d")],
  [
    "--csi-address=/replaced --csi-address=unix://csi/csi.sock",
    twice("unix://csi/csi.sock", ""),
    relative("unix://csi/csi.sock", "csi/csi.sock"),
  ],
  ["--csi-address=unix:csi.sock", relative("unix:csi.sock", "csi.sock")],
  [
    `${NODE_WIDE} --csi-address=unix://a/*/s --csi-address=unix://b/*/s`,
    relative("unix://a/*/s", "a/*/s"),
    relative("unix://b/*/s", "b/*/s"),
  ],
  [
    `${NODE_WIDE} --csi-address=/q/*/s --kubelet-registration-path=unix:///var/plugins_registry/*/s`,
    unreachable("/var/plugins_registry/*/s", IN_REGISTRY),
  ],
])("%s", async (words, ...lines) => {
  expect(await linesFor(words)).toEqual(lines);
});

test("each assumption is logged with its flag", async () => {
  expect(await linesFor("", { assumed: [{ flag: "plugin-registration-path", value: "/a" }] })).toEqual([
    'info: Not in a container, assuming the paths of this node {"flag":"--plugin-registration-path","value":"/a"}',
  ]);
});

test.each([
  ["csi.sock", "the path is not absolute"],
  [`/${"n".repeat(107)}`, "the path has 108 bytes, the most is 107"],
  ["/var/lib/kubelet/plugins_registry/x/csi.sock", IN_REGISTRY],
  [`/${"n".repeat(106)}`, undefined],
])("a doubtful kubelet path causes a warning, not a refusal: %s", async (path, problem) => {
  const lines = problem === undefined ? [] : [unreachable(path, problem)];
  expect(await linesFor("", { endpoint: path })).toEqual(lines);
});

test.each<readonly [csi: string, forKubelet: string, path: string | undefined]>([
  ["csi.sock", "/csi/csi.sock", "csi.sock"],
  ["dead.sock", "/csi/dead.sock", "dead.sock"],
  ["*/s", "/x/*/s", "*/s"],
  // Where no socket can be nothing is said of kubelet's path, and no advice repeats a pattern that is refused.
  [".", "/csi/csi.sock", undefined],
  ["file", "/csi/csi.sock", undefined],
  ["no/csi.sock", "/csi/csi.sock", undefined],
  ["**/s", "/x/**/s", undefined],
  ["*/*/s", "/x/*/s", undefined],
])(
  "by the mounts, with %s in the driver's folder and %s for kubelet: write %s",
  async (csi, forKubelet, path) => {
    await using folder = await createTempFolder();
    mkdirSync(folder.at("csi"));
    writeFileSync(folder.at("csi", "file"), "");
    await leaveDeadSocket(folder.at("csi", "dead.sock"));
    const mounts = [
      { device: "0:50", root: "/", mountPoint: "/", fileSystem: "overlay" },
      { device: "8:1", root: dirname(HOST_SOCKET), mountPoint: folder.at("csi"), fileSystem: "ext4" },
    ];
    const words = `--csi-address=${folder.at("csi", csi)} --kubelet-registration-path=${forKubelet}`;
    const found = `${dirname(HOST_SOCKET)}/${path}`;
    const advice = warning("Kubelet will not find the driver", {
      kubeletRegistrationPath: forKubelet,
      problem: `on the host the driver's socket is ${found}`,
      fix: `write --kubelet-registration-path=${found}`,
    });
    const lines = path === undefined ? [] : [advice];
    expect(await linesFor(words, { endpoint: forKubelet, mounts })).toEqual(lines);
  },
);
