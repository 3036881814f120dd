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

const DEPRECATED = /^warning: Flag is deprecated .*"--(?:health-port|mode)"/;
const OPEN_TO_ALL = /^warning: Profiles can be read by every client/;
const RELATIVE = /^warning: CSI address is relative to the working directory/;
const TWICE = /^warning: Paths are given more than once/;
const UNREACHABLE = /^warning: Kubelet probably cannot reach the driver/;

test.each<[words: string, ...warnings: RegExp[]]>([
  ["--health-port=9809", DEPRECATED],
  ["--mode=registration", DEPRECATED],
  ["--connection-timeout=30s", /^info: --connection-timeout is deprecated and will have no effect {}$/],
  ["--logtostderr --kubeconfig=/x", /^warning: Flags of former releases .*"--logtostderr --kubeconfig"}$/],
  ["--v=5 register --timeout=3s", /^warning: Words after the flags are ignored.*"register --timeout=3s"}$/],
  ["--enable-pprof", /^warning: --enable-pprof has no effect without --http-endpoint {}$/],
  ["--enable-pprof --http-endpoint=:9809", OPEN_TO_ALL],
  ["--enable-pprof --http-endpoint=0.0.0.0:9809", OPEN_TO_ALL],
  ["--enable-pprof --http-endpoint=[::]:9809", OPEN_TO_ALL],
  ["--enable-pprof --health-port=9809", DEPRECATED, OPEN_TO_ALL],
  [
    "--driver-gone-after=1m --deny-drivers=b",
    / no effect without \* .*"--driver-gone-after --deny-drivers"}$/,
  ],
  [`${NODE_WIDE} --driver-timeout=1m`, /^warning: Flags have no effect with \* .*"--driver-timeout"}$/],
  ["--csi-address=/a --csi-address=/b --kubelet-registration-path=/c", TWICE],
  ["--csi-address=/replaced --csi-address=unix://csi/csi.sock", TWICE, RELATIVE],
  ["--csi-address=unix:csi.sock", new RegExp(`${RELATIVE.source}.*"${resolve("csi.sock")}"}$`)],
  [`${NODE_WIDE} --csi-address=unix://a/*/s --csi-address=unix://b/*/s`, RELATIVE, RELATIVE],
  [`${NODE_WIDE} --csi-address=/q/*/s --kubelet-registration-path=/var/plugins_registry/*/s`, UNREACHABLE],
])("%s", async (words, ...warnings) => {
  expect(await linesFor(words)).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
});

test("each assumption is logged with its flag", async () => {
  expect(await linesFor("", { assumed: [{ flag: "plugin-registration-path", value: "/a" }] })).toEqual([
    expect.stringMatching(/^info: Not in a container, .*"flag":"--plugin-registration-path","value":"\/a"}$/),
  ]);
});

test.each([
  ["csi.sock", "the path is not absolute"],
  [`/${"n".repeat(107)}`, "the path has 108 bytes, the most is 107"],
  ["/var/lib/kubelet/plugins_registry/x/csi.sock", "it is in plugins_registry"],
  [`/${"n".repeat(106)}`, undefined],
])("a doubtful kubelet path causes a warning, not a refusal: %s", async (path, problem) => {
  const warning = expect.stringMatching(`${UNREACHABLE.source}.*"problem":"${problem}`);
  expect(await linesFor("", { endpoint: path })).toEqual(problem === undefined ? [] : [warning]);
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
    const advice = `"fix":"write --kubelet-registration-path=${dirname(HOST_SOCKET)}/${path}"}`;
    const lines = path === undefined ? [] : [expect.stringContaining(advice)];
    expect(await linesFor(words, { endpoint: forKubelet, mounts })).toEqual(lines);
  },
);
