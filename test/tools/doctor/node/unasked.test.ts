import fs from "node:fs";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { listFrom } from "../../../../src/tools/doctor/findings/seen";
import { viewOf } from "../../../../src/tools/doctor/node/judge/view";
import { askDriver } from "../../../../src/tools/doctor/node/read/calls";
import { resolveTarget } from "../../../../src/tools/doctor/node/read/directory";
import { lookOfDriver } from "../../../../src/tools/doctor/node/read/looks";
import { pathHere } from "../../../../src/tools/doctor/node/read/paths";
import { hiddenAt } from "../../../../src/tools/doctor/node/read/socket";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import { leaveDeadSocket } from "../../../support/foreign-socket";
import { driverAt, factsOf, failed, healthy, socketAt } from "./changed-facts";
import { registrar } from "./changed-machine";
import { createDoctorNode, type DoctorNode, WHOLE } from "./doctor-node";
import { healthyFacts, sayings } from "./healthy-facts";
import { looking, spyOnAll } from "./spied-look";

// What nobody asked, or could not look for, is no certain answer: each of these facts is unknown then.

const failing = (errno: string) => () => Promise.reject(Object.assign(new Error(errno), { code: errno }));
const SOCKET = socketAt("/p/x/csi.sock", "accepting");

test.each([
  [
    "it could not be heard after a failed call",
    { socket: SOCKET, identity: failed("GetPluginInfo", "Unavailable") },
  ],
  ["nobody called", { socket: SOCKET, identity: undefined }],
  ["only its name was asked", { socket: SOCKET, identity: driverAt("/p", "x.csi").identity }],
] as const)("what a server speaks is unknown where %s", (_, driver) => {
  expect(trueOrNull(lookOfDriver(driver).spoken.is((one) => one === "http2"))).toBeNull();
});

test("a driver that was named is there, where it cannot be asked", async () => {
  const socket = socketAt(`${"/no-such-directory".repeat(9)}/csi.sock`, "accepting");
  const { names, identity } = lookOfDriver(await askDriver(socket, 1_000));
  expect([trueOrNull(names.contains()), trueOrNull(identity.is(() => true))]).toEqual([null, null]);
});

test("a driver that was found may be the one that was named, where the socket of that one is not seen", () => {
  const driver = { socket: hiddenAt("/csi/csi.sock"), identity: undefined };
  const { drivers } = viewOf(factsOf({ driver, drivers: [driverAt("/p/x/csi.sock", "x.csi")] }));
  expect(itemsOf(drivers).map(({ isNamed }) => trueOrNull(isNamed))).toEqual([true, null]);
});

test("a dead socket may fit a pattern whose directories cannot be searched", async () => {
  await using node = await createDoctorNode();
  const [other, dead] = [node.at("other"), node.at("plugins", "gone")];
  for (const path of [other, dead]) fs.mkdirSync(path, { recursive: true });
  await leaveDeadSocket(`${dead}/csi.sock`);
  spyOnAll();
  const fits = async (pattern: string, failsAt = "") => {
    const { facts } = await looking.run(
      ([, path]) => (path === failsAt ? failing("EACCES") : undefined),
      () => node.look({ ...WHOLE, pattern }),
    );
    return itemsOf(facts.deadSockets).map((one) => trueOrNull(one.fits));
  };
  expect(await fits(`${other}/*/csi.sock`)).toEqual([false]);
  expect(await fits(`${other}/*/csi.sock`, other)).toEqual([null]);
  expect(await fits(`${node.at("plugins")}/*/csi.sock`)).toEqual([true]);
});

test("the registration directory is no guess where a usual one cannot be read", async () => {
  await using node = await createDoctorNode();
  const isGuess = async (failsAt = "") =>
    looking.run(
      ([call, path]) => (call === "stat" && path === failsAt ? failing("EACCES") : undefined),
      async () => (await resolveTarget({ hostRoot: node.path }, {})).isGuess,
    );
  spyOnAll();
  expect([await isGuess(), await isGuess(node.at("var/lib/k0s/kubelet/plugins_registry"))]).toEqual([
    true,
    false,
  ]);
});

/** A process in this node's /proc, with this root; it watches one inode. */
function addProcess(
  { procfs }: DoctorNode,
  pid: number,
  root: string,
  watched: number,
  ...words: readonly string[]
) {
  const process = `${procfs}/${pid}`;
  for (const name of ["fd", "fdinfo"]) fs.mkdirSync(`${process}/${name}`, { recursive: true });
  fs.symlinkSync(root, `${process}/root`);
  fs.symlinkSync("anon_inode:inotify", `${process}/fd/5`);
  const files = {
    comm: `${words[0]}\n`,
    cmdline: words.map((word) => `${word}\0`).join(""),
    environ: "HOME=/\0",
    mountinfo: "1 0 8:1 / / rw - ext4 /dev/sda rw\n",
    "fdinfo/5": `pos: 0\ninotify wd:1 ino:${watched.toString(16)} sdev:1\n`,
  };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(`${process}/${name}`, text);
}

test("beside a kubelet another one may have its root in a file, and a process of any name may be a registrar", async () => {
  await using node = await createDoctorNode();
  const [directory, other] = [node.at("plugins_registry"), node.at("other")];
  for (const path of [directory, other]) fs.mkdirSync(path);
  const registrar = ["registrar", "--csi-address=/c", "--kubelet-registration-path=/c"];
  addProcess(node, 1, "/", fs.statSync(directory).ino, "kubelet", `--root-dir=${node.path}`);
  addProcess(node, 2, "/", 1, ...registrar, `--plugin-registration-path=${other}`);
  const look = async () => {
    const { facts, says } = await node.look({ ...WHOLE, pluginRegistrationPath: directory });
    const { kubelets, registrars } = facts.processes;
    const isMore = [kubelets, registrars].map((list) => trueOrNull(list.contains(() => false)));
    return [...isMore, says("registrars").split(":")[0]];
  };
  expect(await look()).toEqual([false, null, "problem"]);
  fs.mkdirSync(node.at("its-root/var/lib/kubelet/plugins_registry"), { recursive: true });
  addProcess(node, 3, node.at("its-root"), 1, "k3s");
  expect(await look()).toEqual([null, null, "skipped"]);
});

test.each([
  ["ext4", "/var/lib/kubelet/plugins_registry"],
  ["overlay", "/kubelet/plugins_registry"],
])(
  "the directory of a kubelet on the host is what it calls it: its root is on %s",
  async (root, expected) => {
    await using node = await createDoctorNode();
    const directory = node.at("its-root/var/lib/kubelet/plugins_registry");
    fs.mkdirSync(directory, { recursive: true });
    addProcess(node, 1, node.at("its-root"), fs.statSync(directory).ino, "kubelet");
    const mounts = `1 0 8:1 / / rw - ${root} none rw\n2 1 8:2 / /var/lib rw - ext4 /dev/sdb rw\n`;
    fs.writeFileSync(`${node.procfs}/1/mountinfo`, mounts);
    const { facts } = await node.look(WHOLE);
    expect(itemsOf(facts.processes.kubelets).map((one) => one.directory)).toEqual([expected]);
  },
);

test("a mount that is read-only here says so of a registrar only in its own container", () => {
  const folder = { unwritable: "EROFS" };
  const target = { ...healthy.target, hostRoot: "/host" };
  const isReadOnly = (changes: object) =>
    itemsOf(viewOf(healthyFacts(changes)).folder).map((one) => trueOrNull(one.isReadOnly));
  expect([isReadOnly({ folder }), isReadOnly({ folder, target }), isReadOnly({})]).toEqual([
    [true],
    [null],
    [null],
  ]);
  expect(sayings("directory-writable", { folder })).toEqual([
    expect.stringMatching(/^problem: .* read-only/),
  ]);
  expect(sayings("directory-writable", { folder, target })).toEqual([]);
});

test.each<[RegExp, string, (node: DoctorNode) => string]>([
  [/^ok: x\.csi is at the path that kubelet gets/, "ext4", () => ""],
  [/^ok:/, "ext4", ({ path }) => `/k0s ${path}`],
  [/^ok:/, "overlay", ({ path }) => `${path} ${path}`],
  [/^unknown: .* on the host, which cannot be seen from here/, "overlay", ({ path }) => `/k0s ${path}`],
  [/^unknown: .* on the host, which/, "overlay", ({ directory }) => `${directory} ${directory}`],
])("what a container has at a path of the host is not the host's: %s %s", async (expected, root, mounted) => {
  await using node = await createDoctorNode();
  const endpoint = await node.driverUnder("x.csi");
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint });
  const more = mounted(node) && `2 1 8:1 ${mounted(node)} rw - ext4 /dev/sda rw\n`;
  fs.rmSync(`${node.procfs}/self`);
  fs.mkdirSync(`${node.procfs}/self`);
  fs.writeFileSync(`${node.procfs}/self/mountinfo`, `1 0 0:1 / / rw - ${root} none rw\n${more}`);
  expect((await node.look(WHOLE)).says("registration-endpoint")).toMatch(expected);
});

test("a registrar's path is not that of a driver here, unless both have the same files", () => {
  const path = "/csi/csi.sock";
  const socket = socketAt(path, "missing");
  const driver = { socket, identity: undefined };
  const statesOf = (csiSocketPath: object) => {
    const registrars = [registrar({ endpoint: "/w", socket, csiSocketPath })];
    const { drivers, findings } = reportOn(factsOf({ driver, registrars, registrations: [] }));
    const [{ follows } = { follows: "none" }] = findings.filter(({ check }) => check === "registrars");
    return [...drivers.map(({ state }) => state), follows];
  };
  expect(statesOf(listFrom([]))).toEqual(["unpublished", "waiting", null]);
  expect(statesOf(listFrom([pathHere(path)]))).toEqual(["unpublished", "CSI002"]);
});
