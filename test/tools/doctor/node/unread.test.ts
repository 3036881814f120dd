import fs from "node:fs";
import { join } from "node:path";
import { createDoctorNode, type DoctorNode, WHOLE } from "./doctor-node";

// Taking information away may turn a verdict into "unknown", and nothing else: each read of a look fails in turn.

const READS = ["stat", "readdir", "readlink", "realpath", "readFile"] as const;
type Read = readonly [call: (typeof READS)[number] | "readFileSync", path: string];
type Answer = (real: () => unknown) => unknown;

/** Each call of a look is answered by what `answerOf` gives for it. */
function spy(answerOf: (read: Read) => Answer) {
  for (const call of READS) {
    const real = fs.promises[call] as (...words: readonly unknown[]) => Promise<unknown>;
    const read = async (path: string, ...more: readonly unknown[]) =>
      answerOf([call, String(path)])(() => real(path, ...more));
    jest.spyOn(fs.promises, call).mockImplementation(read as never);
  }
  const real = fs.readFileSync;
  const read = (path: string, options: "utf8") =>
    answerOf(["readFileSync", String(path)])(() => real(path, options));
  jest.spyOn(fs, "readFileSync").mockImplementation(read as never);
}

const asIs: Answer = (real) => real();
const failing =
  (code: string): Answer =>
  () => {
    throw Object.assign(new Error(code), { code });
  };
/** The first half of a text. */
const halfOf = (text: string) => text.slice(0, text.length / 2);
const truncated: Answer = (real) => {
  const whole = real() as string | Promise<string>;
  return typeof whole === "string" ? halfOf(whole) : whole.then(halfOf);
};

/** How a read can be taken away. Elsewhere than in /proc itself, ENOENT says that nothing is there. */
function waysOf([call, path]: Read, { procfs }: DoctorNode): readonly (readonly [string, Answer])[] {
  const isOfProc = path.startsWith(procfs) && !path.includes("/root/");
  const errnos = ["EACCES", "EIO", "ETIMEDOUT", ...(isOfProc ? ["ENOENT"] : [])];
  return [
    ...errnos.map((code) => [code, failing(code)] as const),
    ...(/^readFile/.test(call) ? [["truncated", truncated] as const] : []),
  ];
}

const badIn = ({ findings }: Awaited<ReturnType<DoctorNode["look"]>>) =>
  findings
    .filter(({ status }) => status === "problem" || status === "warning")
    .map(({ code, subject }) => `${code} ${subject}`);

/** A process in this node's /proc. */
function addProcess({ procfs, directory }: DoctorNode, pid: number, ...words: readonly string[]) {
  const watch = `inotify wd:2 ino:${fs.statSync(directory).ino.toString(16)} sdev:1 mask:fc6\n`;
  fs.mkdirSync(join(procfs, `${pid}`));
  fs.symlinkSync("/", join(procfs, `${pid}`, "root"));
  const files = {
    comm: `${words[0]}\n`,
    cmdline: words.map((word) => `${word}\0`).join(""),
    environ: "",
    mountinfo: "",
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

async function makeHealthy(node: DoctorNode, csiAddress: string) {
  const kubelet = await node.kubelet();
  await node.registrar({ csiAddress, endpoint: csiAddress });
  await kubelet.registered("x.csi");
}

async function makeSick(node: DoctorNode) {
  await node.driverUnder("y.csi", { name: "z.csi" });
  await node.plugin("lost-reg.sock", { name: "lost.csi", endpoint: node.at("nowhere.sock") });
}

/** A driver that is registered in a directory below. */
async function makeNested(node: DoctorNode) {
  const csiAddress = await node.driverUnder("y.csi");
  fs.mkdirSync(join(node.directory, "below"));
  await node.plugin("below/y.csi-reg.sock", { name: "y.csi", endpoint: csiAddress });
}

/** A registrar that took its socket out of kubelet's sight. */
async function makeHidden(node: DoctorNode, csiAddress: string) {
  const kubelet = await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason: "no room" }] });
  const registrar = await node.registrar({
    csiAddress,
    endpoint: csiAddress,
    onRegistrationFailure: "retry",
  });
  await kubelet.refused("x.csi");
  await registrar.state("refused");
}

test.each([makeHealthy, makeSick, makeNested, makeHidden])(
  "each read that fails takes findings away, and adds none: %p",
  async (make) => {
    await using node = await createDoctorNode();
    const csiAddress = await node.driverUnder("x.csi");
    await make(node, csiAddress);
    fs.symlinkSync(node.directory, node.at("plugins_registry"));
    addProcess(node, 1, "kubelet", `--root-dir=${node.path}`);
    const paths = [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${csiAddress}`];
    addProcess(node, 2, "registrar", ...paths, `--plugin-registration-path=${node.directory}`);
    const states = ({ drivers }: Awaited<ReturnType<DoctorNode["look"]>>) =>
      drivers
        .map(({ name, state }) => `${name} ${state}`)
        .sort()
        .join();
    const reads = new Map<string, Read>();
    spy((read) => {
      if ([node.path, node.procfs].some((path) => read[1].startsWith(path))) reads.set(read.join(" "), read);
      return asIs;
    });
    const whole = await node.look(WHOLE);
    jest.restoreAllMocks();
    expect(reads.size).toBeGreaterThan(15);
    for (const [call, path] of reads.values())
      for (const [way, answer] of waysOf([call, path], node)) {
        spy((read) => (read[0] === call && read[1] === path ? answer : asIs));
        const look = await node.look(WHOLE);
        jest.restoreAllMocks();
        const added = badIn(look).filter((one) => !badIn(whole).includes(one));
        expect([way, call, path, added]).toEqual([way, call, path, []]);
        // What is not seen any more is not said to be well.
        if (states(look) !== states(whole))
          expect([way, call, path, look.healthy]).toEqual([way, call, path, false]);
      }
  },
);

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
});

const REGISTRAR = ["registrar", "--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"];

test("a removed directory of kubelet is not reported as another one than a registrar's", async () => {
  await using node = await createDoctorNode();
  const other = node.at("other");
  for (const path of [other, node.at("plugins_registry")]) fs.mkdirSync(path);
  addProcess(node, 1, "kubelet", `--root-dir=${node.path}`);
  addProcess(node, 2, ...REGISTRAR, `--plugin-registration-path=${other}`);
  const said = async () => (await node.look(WHOLE)).says("registrars");
  expect(await said()).toMatch(/^problem: a registrar \(process 2\) registers in .*\/other; kubelet watches/);
  fs.rmdirSync(node.at("plugins_registry"));
  expect(await said()).toMatch(
    /^unknown: \S+\/plugins_registry of kubelet \(process 1\) cannot be .*: ENOENT/,
  );
});

test.each(["EIO", "ETIMEDOUT", "ESTALE"])(
  "a registrar whose directory fails with %s is reported",
  async (code) => {
    await using node = await createDoctorNode();
    const other = node.at("other");
    addProcess(node, 2, ...REGISTRAR, `--plugin-registration-path=${other}`);
    spy(([call, path]) => (call === "stat" && path.endsWith(other) ? failing(code) : asIs));
    const said = (await node.look(WHOLE)).says("registrars");
    jest.restoreAllMocks();
    expect(said).toMatch(new RegExp(`^unknown: a registrar \\(process 2\\) cannot be inspected: ${code}`));
  },
);
