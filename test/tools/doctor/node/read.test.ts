import fs from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { systemError } from "../../../../src/base/errors";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { startReading } from "../../../../src/tools/doctor/findings/seen";
import { viewOf } from "../../../../src/tools/doctor/node/judge/view";
import { resolveTarget } from "../../../../src/tools/doctor/node/read/directory";
import type { NodePart } from "../../../../src/tools/doctor/node/read/facts";
import { findProcesses } from "../../../../src/tools/doctor/node/read/processes";
import { isTelling, lookAtSocket } from "../../../../src/tools/doctor/node/read/socket";
import { partGaps } from "../../../../src/tools/doctor/node/read/sockets-found";
import { eachTest } from "../../../support/each-test";
import { byOutcome } from "../../../support/recorded";
import { createTempFolder } from "../../../support/temp-folder";
import { healthyFacts } from "./healthy-facts";

// What doctor reads of files and processes that a test made, recorded: `npx jest -u test/tools/doctor/node/read` writes it anew.

const folder = eachTest(createTempFolder);

/** Without what differs from run to run. */
const plain = (value: unknown) =>
  JSON.stringify(value, (key, one) => (["inode", "ownership"].includes(key) ? key : one)).replaceAll(
    folder.path,
    "DIR",
  );

const ERRNOS =
  "ECONNREFUSED EAGAIN EPROTOTYPE ENOTSOCK EACCES EPERM EMFILE ENFILE ENOMEM ENOENT ENOTDIR ELOOP ENAMETOOLONG ETIMEDOUT ECONNRESET EPIPE EIO".split(
    " ",
  );

test("what is at a socket's path", async () => {
  const server = createServer().listen(folder.at("s"));
  await new Promise((ready) => server.once("listening", ready));
  fs.writeFileSync(folder.at("file"), "");
  fs.mkdirSync(folder.at("dir"));
  fs.symlinkSync("loop", folder.at("loop"));
  const rows: (readonly [string, string])[] = [];
  for (const errno of ERRNOS) {
    const tryReach = async () => systemError(errno);
    const reach = () => Promise.reject(systemError(errno));
    rows.push([
      `${errno} of a connection, telling: ${isTelling(errno)}`,
      plain(await lookAtSocket(folder.at("s"), { tryReach })).replaceAll(`"${errno}"`, "ITS ERRNO"),
    ]);
    rows.push([
      `${errno} on the way`,
      plain(await lookAtSocket("/given", { reach, part: "directory" })).replaceAll(`"${errno}"`, "ITS ERRNO"),
    ]);
  }
  const long = folder.at("n".repeat(120));
  for (const path of ["s", "file", "dir", "loop", "loop/x", "file/x", "none", "none/x"])
    rows.push([path, plain(await lookAtSocket(folder.at(path)))]);
  rows.push([
    "a path of 108 bytes",
    plain(await lookAtSocket(folder.at("s"), { own: `/${"x".repeat(107)}` })),
  ]);
  rows.push([
    "a path of 107 bytes",
    plain(await lookAtSocket(folder.at("s"), { own: `/${"x".repeat(106)}` })),
  ]);
  rows.push([
    "a long name",
    plain(await lookAtSocket(long))
      .replace(/n{100,}/g, "n...")
      .replace(/"bytes":\d+/, "bytes"),
  ]);
  server.close();
  expect(byOutcome(rows)).toMatchSnapshot();
});

const DEFAULT = "/run/csi/socket";
const OF_ROOTS = ["/k/plugins_registry", "/var/lib/kubelet/plugins_registry"];
/** Those that are there. */
const DIRECTORIES = [
  ...[["/registration"], ...OF_ROOTS.map((one) => [one]), [], ["/registration", ...OF_ROOTS], OF_ROOTS],
  ["/var/lib/k0s/kubelet/plugins_registry", "/k/plugins_registry"],
];

test("where doctor looks", async () => {
  const rows: (readonly [string, string])[] = [];
  const flags = [undefined, "", "/s", "/p/*/s"].flatMap((csiAddress) =>
    [undefined, "", "/h"].flatMap((kubeletRegistrationPath) =>
      [undefined, "/d/"].map((pluginRegistrationPath) => ({
        csiAddress,
        kubeletRegistrationPath,
        pluginRegistrationPath,
      })),
    ),
  );
  for (const one of flags)
    for (const isThere of [true, false, "EACCES"])
      for (const there of DIRECTORIES)
        for (const env of [{ KUBELET_ROOT_DIR: "/k" }, {}]) {
          if (one.csiAddress !== undefined && isThere !== true) continue;
          const fileSystem = {
            exists: async (path: string) => path === DEFAULT && isThere,
            mayBeDirectory: async (path: string) => there.includes(path),
          };
          const target = await resolveTarget(one, env, fileSystem);
          rows.push([plain({ ...one, there, ...env, default: isThere }), plain(target)]);
        }
  expect(byOutcome(rows)).toMatchSnapshot();
});

test("below a host's root, what this container has in their places is no driver and no directory", async () => {
  const fileSystem = { exists: async () => true, mayBeDirectory: async () => true };
  const target = await resolveTarget({ hostRoot: folder.path }, {}, fileSystem);
  expect(target).toMatchObject({ csiSocketPath: undefined, kubeletRegistrationPath: undefined });
  expect(target.pluginRegistrationPath).toBe(folder.at("var/lib/kubelet/plugins_registry"));
});

test("what is too deep, or a mount, where no driver has its socket", () => {
  const at = (kind: string, subject: string, from = subject) =>
    ({ part: "sockets", subject, why: { kind, from, fileSystem: "fuse", errno: "EIO" } }) as never;
  const paths = ["/k/plugins/a/b", "/k/plugins/x.csi/v", "/k/plugins/kubernetes.io/csi/x", "/elsewhere"];
  const gaps = paths.flatMap((path) => ["deep", "mount", "errno"].map((kind) => at(kind, path)));
  const directories = ["/k/plugins", "/k/csi-plugins"];
  const rows = [[], ["/k/plugins/x.csi/csi.sock"], ["/k/plugins/csi.sock"], ["/elsewhere/csi.sock"]].map(
    (sockets) => {
      const { aside, needed } = partGaps(
        [...gaps, at("deep", "/linked", "/k/plugins/x.csi/link")],
        directories,
        sockets,
      );
      return [
        sockets.join(),
        [...aside, "needed:", ...needed].map((gap) => JSON.stringify(gap)).join("\n"),
      ] as const;
    },
  );
  expect(byOutcome(rows)).toMatchSnapshot();
});

const ARGS = ["--csi-address=/csi/csi.sock", "--kubelet-registration-path=/k/plugins/x.csi/csi.sock"];
const DROPIN = "/csi-node-driver-registrar";
type Made = Readonly<Record<string, string>>;
const words = (...all: readonly string[]) => all.map((word) => `${word}\0`).join("");
const registrar = (...args: readonly string[]): Made => ({
  comm: "csi-node-driver\n",
  cmdline: words(DROPIN, ...args),
});
const kubelet = (comm: string, ...args: readonly string[]): Made => ({
  comm: `${comm}\n`,
  cmdline: words(...args),
});
const REGISTRARS: Readonly<Record<string, Made>> = {
  "a registrar": registrar(...ARGS),
  "of node": {
    comm: "MainThread\n",
    cmdline: words("node", "--max-old-space-size=20", "/x/cli.js", ...ARGS),
  },
  "of a package": { comm: "node\n", cmdline: words("/usr/bin/node", "/x/registrar", ...ARGS) },
  "of another name": { comm: "bash\n", cmdline: words(DROPIN, ...ARGS) },
  "another program": { comm: "node\n", cmdline: words("node", "/x/server.js", ...ARGS) },
  "a tool": { comm: "registrar\n", cmdline: words("registrar", "doctor", ...ARGS) },
  "the whole node": registrar(
    "--csi-address=/plugins/*/csi.sock",
    "--kubelet-registration-path=/k/plugins/*/csi.sock",
  ),
  "an address in a directory that is not there": registrar("--csi-address=/none/csi.sock"),
  "a relative address": registrar("--csi-address=csi.sock"),
  "an address that is none": registrar("--csi-address=tcp://x"),
  "no arguments": registrar(),
  "a probe": registrar("--mode=kubelet-registration-probe", ...ARGS),
  "its version": registrar("--version"),
  "its help": registrar("--help", ...ARGS),
  "flags of another version": registrar("--nope", ...ARGS),
  "flags of another program": registrar("--nope"),
  "another directory": registrar("--plugin-registration-path=/other", ...ARGS),
  "this directory": registrar("--plugin-registration-path=/registration", ...ARGS),
  "no directory": registrar("--plugin-registration-path=/none", ...ARGS),
  "no directory, and no flag of its own": { ...registrar(), root: "empty" },
  "no directory in its root": { ...registrar(...ARGS), root: "empty" },
  "a directory by its environment": {
    ...registrar(...ARGS),
    root: "node",
    environ: words("A=b", "KUBELET_ROOT_DIR=/k"),
  },
  "no words": { ...registrar(), cmdline: "" },
  "words that are cut": { ...registrar(), cmdline: DROPIN },
  "no root": { ...registrar(...ARGS), root: "" },
  "an ended one": { ...registrar(...ARGS), cmdline: "x", stat: "5 (csi) Z 1\n" },
  "a name that is cut": { ...registrar(...ARGS), comm: "csi" },
  "mounts that are cut": {
    ...registrar("--plugin-registration-path=/other", ...ARGS),
    mountinfo: "1 0 8:1 / / rw",
  },
};
const KUBELETS: Readonly<Record<string, Made>> = {
  kubelet: kubelet("kubelet", "/usr/bin/kubelet", "--root-dir=/k"),
  "kubelet, two words": kubelet("kubelet", "/usr/bin/kubelet", "--root-dir", "/k"),
  "kubelet, twice": kubelet("kubelet", "/usr/bin/kubelet", "--root-dir=/x", "-root-dir=/k"),
  "kubelet of the default root": kubelet("kubelet", "/usr/bin/kubelet", "--v=2"),
  "kubelet of no directory": kubelet("kubelet", "/usr/bin/kubelet", "--root-dir=/none"),
  k3s: kubelet("k3s-server", "/usr/bin/k3s", "server", "--kubelet-arg=root-dir=/k"),
  "k3s, two words": kubelet("k3s-agent", "/usr/bin/k3s", "agent", "--kubelet-arg", "root-dir=/k"),
  rke2: kubelet("rke2", "/usr/bin/rke2", "server"),
  kubelite: kubelet("kubelite", "/snap/kubelite"),
  "kubelite that watches": {
    ...kubelet("kubelite", "/snap/kubelite"),
    watches: "var/lib/kubelet/plugins_registry",
  },
  kubectl: kubelet("kubectl", "kubectl", "--root-dir=/k"),
  "a kubelet that watches": {
    ...kubelet("kubelet", "kubelet", "--root-dir=/k"),
    watches: "k/plugins_registry",
  },
  "a kubelet that watches another": { ...kubelet("kubelet", "kubelet", "--root-dir=/k"), watches: "other" },
  "a kubelet whose watch is cut": { ...kubelet("kubelet", "kubelet", "--root-dir=/k"), watches: "" },
};

/** A /proc with this process and another one, which has a root of its own. */
function makeProcfs(at: number, { root = "node", watches, ...files }: Made, own: Made = {}) {
  const procfs = folder.at(`proc${at}`);
  const write = (pid: string, made: Made) => {
    fs.mkdirSync(join(procfs, pid, "fd"), { recursive: true });
    fs.mkdirSync(join(procfs, pid, "fdinfo"));
    for (const [name, text] of Object.entries(made)) fs.writeFileSync(join(procfs, pid, name), text);
  };
  const mountinfo = "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 8:1 /host/other /other rw - ext4 /dev/sda rw\n";
  write("5", { mountinfo, environ: "", stat: "5 (x) S 1\n", ...files });
  write("9", {
    comm: "test\n",
    mountinfo,
    cmdline: "",
    status: "Gid:\t7\t7\nGroups:\t8 9\nCapEff:\t0\n",
    ...own,
  });
  for (const [name, to] of [
    ["root", root],
    ["cwd", "node"],
  ] as const)
    if (to !== "") fs.symlinkSync(folder.at(to), join(procfs, "5", name));
  if (watches !== undefined) {
    fs.symlinkSync("/dev/null", join(procfs, "5", "fd", "3"));
    fs.symlinkSync("anon_inode:inotify", join(procfs, "5", "fd", "4"));
    const { ino } = fs.statSync(folder.at("node", watches));
    const text = `pos:\t0\ninotify wd:1 ino:${ino.toString(16)} sdev:800001 mask:1\n`;
    fs.writeFileSync(join(procfs, "5", "fdinfo", "4"), watches === "" ? "pos" : text);
  }
  fs.symlinkSync("9", join(procfs, "self"));
  return procfs;
}

async function found(procfs: string, directory = "registration") {
  const reading = startReading<NodePart>();
  const { kubelets, registrars } = await findProcesses(folder.at("node", directory), procfs, reading);
  const lines = [
    ...itemsOf(kubelets).map(({ is: _, isDeaf, ...one }) =>
      plain({ kubelet: one, isDeaf: trueOrNull(isDeaf) }),
    ),
    ...itemsOf(registrars).map(({ isElsewhere, csiSocketPath: _, ...one }) =>
      plain({ registrar: one, isElsewhere: trueOrNull(isElsewhere) }),
    ),
    ...reading.gaps().map((gap) => plain({ gap })),
  ];
  return (lines.join("\n") || "nothing").replaceAll(/DIR\/proc\d+/g, "PROC");
}

const prepare = () => {
  for (const path of [
    "registration",
    "k/plugins_registry",
    "var/lib/kubelet/plugins_registry",
    "other",
    "csi",
  ])
    fs.mkdirSync(folder.at("node", path), { recursive: true });
  fs.mkdirSync(folder.at("empty"));
};

test.each(["registration", "k/plugins_registry"])("processes, for the directory %s", async (directory) => {
  prepare();
  const rows: (readonly [string, string])[] = [];
  for (const [what, made] of Object.entries({ ...REGISTRARS, ...KUBELETS }))
    rows.push([what, await found(makeProcfs(rows.length, made), directory)]);
  expect(byOutcome(rows)).toMatchSnapshot();
});

test("without a kubelet among the processes, those of the node are not seen, and none is certainly absent", async () => {
  prepare();
  const reading = startReading<NodePart>();
  const procfs = makeProcfs(0, KUBELETS.kubectl ?? {});
  const processes = await findProcesses(folder.at("node", "registration"), procfs, reading);
  const { registrars, watched, waiting, misplaced } = viewOf({ ...healthyFacts(), processes });
  const lists = [processes.kubelets, processes.registrars, registrars, watched, waiting, misplaced];
  expect(lists.map((list) => trueOrNull(list.contains()))).toEqual(lists.map(() => null));
  expect(reading.gaps()).toEqual([]);
});

test("processes that /proc hides, and a /proc that is none", async () => {
  prepare();
  const rows: (readonly [string, string])[] = [];
  const options = [
    "rw",
    "rw,hidepid=1",
    "rw,hidepid=2",
    "rw,hidepid=invisible",
    "rw,hidepid=2,gid=7",
    "rw,hidepid=2,gid=9",
  ];
  for (const option of [...options, "rw,hidepid=2,gid=6", "rw,hidepid=4,gid=7", "rw,hidepid=ptraceable"])
    for (const CapEff of ["0", "80000", "7ffff"]) {
      const at = rows.length;
      const mountinfo = `1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:1 / ${folder.at(`proc${at}`)} rw - proc proc ${option}\n`;
      const status = `Gid:\t7\t7\nGroups:\t8 9\nCapEff:\t${CapEff}\n`;
      rows.push([
        `${option}, rights ${CapEff}`,
        await found(makeProcfs(at, REGISTRARS["a registrar"] ?? {}, { mountinfo, status })),
      ]);
    }
  const procfs = makeProcfs(100, REGISTRARS["a registrar"] ?? {});
  fs.writeFileSync(folder.at("node/file"), "");
  rows.push(["no directory", await found(procfs, "none")], ["a file", await found(procfs, "file/x")]);
  fs.rmSync(join(procfs, "self"));
  rows.push(["no self", await found(procfs)]);
  fs.symlinkSync("11", join(procfs, "self"));
  rows.push(["another self", await found(procfs)], ["no /proc", await found(folder.at("none"))]);
  expect(byOutcome(rows)).toMatchSnapshot();
});
