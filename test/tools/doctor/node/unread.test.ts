import fs from "node:fs";
import net from "node:net";
import { dirname, join } from "node:path";
import { trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { viewOf } from "../../../../src/tools/doctor/node/judge/view";
import type { Target } from "../../../../src/tools/doctor/node/read/facts";
import { isWell } from "../../../../src/tools/status/command";
import { filesBelow, readText } from "../../../docs/markdown";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { otherFactsIn } from "../findings/less-known";
import { createDoctorNode, type DoctorNode, WHOLE } from "./doctor-node";
import { type Answer, looking, type Read, rememberReplies, spyOnAll } from "./spied-look";

// Taking information away may turn a verdict into "unknown", and nothing else: each read of a look fails in turn.

type Look = Awaited<ReturnType<DoctorNode["look"]>>;

const errorOf = (code: string) => Object.assign(new Error(code), { code });

/** A call that fails: a connection with an event, a call of `...Sync` by throwing. */
const failing =
  (code: string): Answer =>
  (_real, call) => {
    if (call === "connect") return new net.Socket().destroy(errorOf(code));
    if (call.endsWith("Sync")) throw errorOf(code);
    return Promise.reject(errorOf(code));
  };
/** The same once. */
const failingOnce = (code: string): Answer => {
  let calls = 0;
  return (real, call) => (calls++ === 0 ? failing(code)(real, call) : real());
};
/** The first half of a text. */
const halfOf = (text: unknown) => (typeof text === "string" ? text.slice(0, text.length / 2) : text);
const truncated: Answer = (real) => {
  const whole = real();
  return whole instanceof Promise ? whole.then(halfOf) : halfOf(whole);
};

/** As Node 20 calls an errno that libuv has no name for: ESTALE. */
const UNNAMED = "Unknown system error -116";

/** How a read can be taken away. Except of a process that ended, ENOENT says that nothing is there. */
function waysOf([call, path]: Read, { procfs }: DoctorNode, silent: string) {
  const isOfProc = path.startsWith(procfs) && !path.includes("/root/");
  const isList = path === procfs || path.endsWith("/fd");
  const isLook = /^(?:stat|access)$/.test(call);
  const errnos = [
    "EACCES",
    ...(isLook ? [UNNAMED] : []),
    ...(isOfProc && !path.endsWith("mountinfo") ? ["ENOENT"] : []),
  ];
  const ways: Record<string, Answer> = Object.fromEntries(errnos.map((code) => [code, failing(code)]));
  if (call === "connect") ways.late = () => net.connect(silent);
  else if (!isLook && !isOfProc) ways["EIO, once"] = failingOnce("EIO");
  if (call.startsWith("readFile")) ways.truncated = truncated;
  if (call === "readdir" && isList) ways.empty = () => Promise.resolve([]);
  if (call === "realpath")
    ways["a fault of ours"] = () => Promise.reject(new TypeError("x is not a function"));
  return Object.entries(ways);
}

const keysIn = ({ findings }: Look, ...statuses: readonly string[]) =>
  findings.filter(({ status }) => statuses.includes(status)).map(({ code, subject }) => `${code} ${subject}`);
/** With the drivers for which status exits with 1. */
const badIn = (look: Look) => [
  ...keysIn(look, "problem", "warning"),
  ...look.drivers.flatMap((row) =>
    isWell(row) || row.state === "unknown" ? [] : `${row.name ?? row.csiSocket} is not well`,
  ),
];
/** What is well though it is not in the whole; and problems that are there no more, without a word of what is unknown. */
const wellOrLostIn = (seen: Look, whole: Look) => [
  ...keysIn(seen, "ok").filter((one) => !keysIn(whole, "ok").includes(one)),
  ...keysIn(whole, "problem").filter((one) => seen.summary.unknown === 0 && !badIn(seen).includes(one)),
];

/** Rows whose reason is what could not be read of another path, without a word of why that matters. */
const strangeIn = ({ drivers }: Look) =>
  drivers.flatMap(({ reason, csiSocket, registrationSocket }) =>
    reason === null ||
    /^(?!\/)|; its driver is/.test(reason) ||
    [csiSocket, registrationSocket].some((own) => own !== null && reason.startsWith(`${own} `))
      ? []
      : `${csiSocket}: ${reason}`,
  );

/** What may be, why something is unread, and where it was looked for, are no facts. */
const otherFactsOf = (seen: Look, whole: Look) =>
  otherFactsIn(viewOf(seen.facts), viewOf(whole.facts), {
    asWritten: ["mayBeNames", "nowMs"],
  }).filter((one) => !/\.endpoint\(\)\.socket\.path:/.test(one));

const statesIn = ({ drivers }: Look) => drivers.map(({ name, state }) => `${name} ${state}`).sort();

/** A process in this node's /proc. */
function addProcess({ procfs, directory }: DoctorNode, pid: number, ...words: readonly string[]) {
  const watch = `inotify wd:2 ino:${fs.statSync(directory).ino.toString(16)} sdev:1 mask:fc6\n`;
  fs.mkdirSync(join(procfs, `${pid}`));
  fs.symlinkSync("/", join(procfs, `${pid}`, "root"));
  const files = {
    comm: `${words[0]}\n`,
    cmdline: words.map((word) => `${word}\0`).join(""),
    environ: "HOME=/\0",
    mountinfo: "1 0 8:1 / / rw - ext4 /dev/sda rw\n",
  };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(procfs, `${pid}`, name), text);
  for (const name of ["fd", "fdinfo"]) fs.mkdirSync(join(procfs, `${pid}`, name));
  const other = "inotify wd:1 ino:2 sdev:1 mask:fc6\n";
  for (const [fd, info] of [
    ["6", other],
    ["7", other + watch],
  ] as const) {
    fs.symlinkSync("anon_inode:inotify", join(procfs, `${pid}`, "fd", fd));
    fs.writeFileSync(join(procfs, `${pid}`, "fdinfo", fd), `pos:\t0\n${info}`);
  }
}

const CONTROLLER = [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }];

interface World {
  readonly target?: Partial<Target>;
  /** Words of a registrar's process. */
  readonly registrar?: readonly string[];
  /** Kubelet's watches are on other files. */
  readonly isDeaf?: boolean;
}

/** Drivers without a registrar, two of one name, a controller, one that is denied, and a registrar that waits. */
async function makeSick(node: DoctorNode): Promise<World> {
  for (const [path, name] of Object.entries({ x: "x.csi", y: "z.csi", one: "twin.csi", two: "twin.csi" }))
    await node.driverUnder(path, { name });
  await node.driverUnder("c", { name: "c_csi", faults: CONTROLLER });
  await node.driverUnder("denied", { name: "denied_csi" });
  await node.plugin("lost-reg.sock", { name: "lost.csi", endpoint: node.at("nowhere.sock") });
  return { target: { names: { deny: ["denied_csi"] } }, registrar: ["--csi-address=/nowhere/csi.sock"] };
}

/** A driver and a registrar that ended, and a registrar in another root than kubelet's. */
async function makeDeserted(node: DoctorNode): Promise<World> {
  for (const path of [node.at("plugins", "gone"), node.at("other")]) fs.mkdirSync(path, { recursive: true });
  await leaveDeadSocket(node.at("plugins", "gone", "csi.sock"));
  await leaveDeadSocket(join(node.directory, "gone-reg.sock"));
  return { registrar: [`--plugin-registration-path=${node.at("other")}`] };
}

async function makeHealthy(node: DoctorNode): Promise<World> {
  const csiAddress = await node.driverUnder("x.csi");
  const kubelet = await node.kubelet();
  await node.registrar({ csiAddress, endpoint: csiAddress });
  await kubelet.registered("x.csi");
  return {};
}

/** The same, with its flags. */
async function makeNamed(node: DoctorNode): Promise<World> {
  await makeHealthy(node);
  const csiAddress = node.at("plugins", "x.csi", "csi.sock");
  return { target: { csiSocketPath: csiAddress, kubeletRegistrationPath: csiAddress } };
}

/** A driver that is registered in a directory below, and another one of its name. */
async function makeNested(node: DoctorNode): Promise<World> {
  const csiAddress = await node.driverUnder("y.csi");
  fs.mkdirSync(join(node.directory, "below"));
  await node.plugin("below/y.csi-reg.sock", { name: "y.csi", endpoint: csiAddress });
  return { target: { pattern: node.at("plugins", "*", "csi.sock") } };
}

/** A registrar that took its socket out of kubelet's sight. */
async function makeHidden(node: DoctorNode): Promise<World> {
  const csiAddress = await node.driverUnder("x.csi");
  const kubelet = await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", error: "no room" }] });
  const paths = { csiAddress, endpoint: csiAddress };
  const registrar = await node.registrar({ ...paths, onRegistrationFailure: "retry" });
  await kubelet.refused("x.csi");
  await registrar.state("refused");
  return {};
}

/** A host's root, in which kubelet's is an absolute link. */
async function makeHost(node: DoctorNode): Promise<World> {
  const [root, link] = [node.at("host/data/kubelet"), node.at("host/var/lib/kubelet")];
  for (const path of [join(root, "plugins/h.csi"), join(root, "plugins_registry"), dirname(link)])
    fs.mkdirSync(path, { recursive: true });
  fs.symlinkSync("/data/kubelet", link);
  await node.driver({ csiAddress: join(root, "plugins/h.csi/csi.sock"), name: "h.csi" });
  const endpoint = "/var/lib/kubelet/plugins/h.csi/csi.sock";
  await node.plugin("../host/data/kubelet/plugins_registry/h.csi-reg.sock", { name: "h.csi", endpoint });
  return { target: { hostRoot: node.at("host"), pluginRegistrationPath: join(root, "plugins_registry") } };
}

/** A kubelet that gets no events. */
async function makeDeaf(node: DoctorNode): Promise<World> {
  const endpoint = await node.driverUnder("x.csi");
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint });
  return { isDeaf: true };
}

const REGISTRAR = ["registrar", "--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"];
const MOST_TRIES = 3;

test.each([makeHealthy, makeNamed, makeSick, makeDeserted, makeNested, makeHidden, makeHost, makeDeaf])(
  "each read that fails takes facts and findings away, and adds none: %p",
  async (make) => {
    await using node = await createDoctorNode();
    const { target, registrar = [], isDeaf } = await make(node);
    const silent = node.at("silent");
    await using _silent = await startForeignSocket(silent);
    fs.symlinkSync(node.directory, node.at("plugins_registry"));
    addProcess(node, 1, "kubelet", `--root-dir=${node.path}`);
    addProcess(node, 2, ...REGISTRAR, `--plugin-registration-path=${node.directory}`, ...registrar);
    if (isDeaf)
      fs.writeFileSync(join(node.procfs, "1", "fdinfo", "7"), "inotify wd:1 ino:2 sdev:1 mask:fc6\n");
    spyOnAll();
    const look = (answer: (read: Read) => Answer | undefined, options = {}) =>
      looking.run(answer, () => node.look({ ...WHOLE, ...target }, options));
    const reads = new Map<string, Read>();
    let failed: string | undefined;
    const replies = rememberReplies(() => failed);
    const lookAtAll = () => {
      failed = undefined;
      replies.clear();
      return look((read) => {
        const isOfNode = [node.path, node.procfs].some((path) => read[1].startsWith(path));
        if (isOfNode) reads.set(read.join(" "), read);
        return undefined;
      });
    };
    let whole = await lookAtAll();
    /** No process takes part in a connection to it that is late. */
    const isDead = (path: string) =>
      trueOrNull(whole.facts.deadSockets.contains(({ socket }) => socket.path === path)) !== false;
    expect(reads.size).toBeGreaterThan(15);
    for (const [call, path] of [...reads.values()])
      for (const [way, answer] of waysOf([call, path], node, silent))
        for (let tried = 1; ; tried++) {
          const isIt = (read: Read) => read[0] === call && read[1] === path;
          failed = `${call} ${path}`;
          const seen = await look(
            (read) => (isIt(read) ? answer : undefined),
            way === "late" ? { timeoutMs: 100 } : {},
          );
          const added = [
            ...badIn(seen).filter((one) => !badIn(whole).includes(one)),
            ...(way === "ENOENT" ? [] : wellOrLostIn(seen, whole)),
            ...strangeIn(seen),
            ...(way === "ENOENT" || isDead(path) ? [] : otherFactsOf(seen, whole)),
          ];
          // What is not seen any more is not said to be well; a process without files in /proc has ended.
          const isSame = statesIn(seen).join() === statesIn(whole).join() || way === "ENOENT";
          if (added.length === 0 && (isSame || !seen.healthy)) break;
          // A registrar may have published again meanwhile.
          if (tried === MOST_TRIES) expect([way, call, path, added, statesIn(seen)]).toEqual([]);
          whole = await lookAtAll();
        }
  },
);

test("the doctor of a node reads by nothing else", () => {
  const imported = filesBelow("src/tools/doctor/node", ".ts").flatMap((file) =>
    Array.from(readText(file).matchAll(/from "node:(\w+(?:\/\w+)*)"/g), ([, name]) => name),
  );
  expect([...new Set(imported)].sort()).toEqual(["fs", "fs/promises", "path", "perf_hooks"]);
});

test("a kubelet that watches other files, and not this directory, is reported", async () => {
  await using node = await createDoctorNode();
  const pluginRegistrationPath = node.at("plugins_registry");
  fs.mkdirSync(pluginRegistrationPath);
  addProcess({ ...node, directory: pluginRegistrationPath }, 1, "kubelet", `--root-dir=${node.path}`);
  const said = async () => (await node.look({ ...WHOLE, pluginRegistrationPath })).says("kubelet");
  expect(await said()).toBe("");
  // It is made anew, so the watch is on the old one.
  fs.renameSync(pluginRegistrationPath, node.at("old"));
  fs.mkdirSync(pluginRegistrationPath);
  expect(await said()).toMatch(
    /^problem: kubelet \(process 1\) does not watch .*: its inotify watches are on other files; fix: restart kubelet: .*fs\.ino/,
  );
  const fds = join(node.procfs, "1", "fd");
  // One that is closed at each look: another one may be what watches.
  fs.rmSync(join(node.procfs, "1", "fdinfo", "6"));
  expect(await said()).toMatch(
    /^unknown: kubelet \(process 1\) may not watch .*: its file descriptors changed/,
  );
  for (const fd of fs.readdirSync(fds)) fs.rmSync(join(fds, fd));
  expect(await said()).toMatch(/^unknown: .* may not watch .*: it has no inotify watch; fix: .* fs\.inotify/);
});

test.each([
  [["--brand-new-flag=1"], /its arguments are not understood: flag provided but not defined: -brand-new/],
  [["--plugin-registration-path=/no-such/directory"], /its registration directory is not there: \/no-such/],
])("a registrar with %j is not taken for none", async (words, why) => {
  await using node = await createDoctorNode();
  addProcess(node, 2, ...REGISTRAR, `--plugin-registration-path=${node.directory}`, ...words);
  addProcess(node, 3, "node", "/app/cli.js", "--port=1");
  const { says, healthy } = await node.look(WHOLE);
  expect([says("registrars"), healthy]).toEqual([expect.stringMatching(why), false]);
  expect(says("registrars")).toMatch(/^unknown: a registrar \(process 2\) .*; fix: correct its arg.*$/);
});

test("a socket of kubelet that cannot be read does not count as that of one that runs", async () => {
  await using node = await createDoctorNode();
  await makeHealthy(node);
  const kubeletSocket = node.at("device-plugins", "kubelet.sock");
  fs.mkdirSync(dirname(kubeletSocket));
  await using _kubelet = await startForeignSocket(kubeletSocket);
  spyOnAll();
  const look = (errno: string) =>
    looking.run(
      ([, path]) => (path === kubeletSocket && errno ? failing(errno) : undefined),
      () => node.look(WHOLE),
    );
  expect((await look("")).says("registration-directory")).not.toMatch(/unknown/);
  const { says, healthy } = await look("EACCES");
  expect(says("registration-directory")).toMatch(/^unknown: \S+kubelet\.sock cannot be read: EACCES/);
  expect(healthy).toBe(false);
});

test.each([
  ["connect", "EMFILE", 1, "raise the limit of open files: ulimit -n"],
  ["stat", "ETIMEDOUT", 2, "see what is mounted there, and whether its server runs"],
])("a call that fails on the doctor's side, as %s with %s, is not the driver's failure", async (...one) => {
  const [failed, errno, first, fix] = one;
  await using node = await createDoctorNode();
  const path = await node.driverUnder("x.csi");
  spyOnAll();
  let calls = 0;
  const error = Object.assign(new Error(`connect ${errno} ${path}`), { code: errno });
  const fail = () => (failed === "connect" ? new net.Socket().destroy(error) : Promise.reject(error));
  const { says, healthy } = await looking.run(
    ([call, at]) => (call === failed && at === path && calls++ >= first ? fail : undefined),
    () => node.look(WHOLE),
  );
  expect(calls).toBeGreaterThan(first);
  expect(says("driver-identity")).toBe(`unknown: ${path} cannot be asked: ${errno}; fix: ${fix}`);
  expect(healthy).toBe(false);
});

test("a removed directory of kubelet is not reported as another one than a registrar's", async () => {
  await using node = await createDoctorNode();
  const other = node.at("other");
  for (const path of [other, node.at("plugins_registry")]) fs.mkdirSync(path);
  addProcess(node, 1, "kubelet", `--root-dir=${node.path}`);
  addProcess(node, 2, ...REGISTRAR, `--plugin-registration-path=${other}`);
  const said = async () => (await node.look(WHOLE)).says("registrars");
  expect(await said()).toMatch(/^problem: a registrar \(process 2\) registers in .*\/other; kubelet watches/);
  fs.rmdirSync(node.at("plugins_registry"));
  expect(await said()).toMatch(/^skipped: a registrar \(process 2\) registers in \S+other, which is not /);
});
