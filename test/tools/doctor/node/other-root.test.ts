import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { itemsOf } from "../../../../src/tools/doctor/findings/opened";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { leaveDeadSocket } from "../../../support/foreign-socket";
import { registrarCommand } from "../../../support/registrar-command";
import { createDoctorNode, type DoctorNode, problemsIn, WHOLE } from "./doctor-node";

// Processes are read through links into the real /proc, so that those of other tests are not seen.

/** A process that the doctor of `node` sees. */
async function run(node: DoctorNode, [program = "", ...words]: readonly string[], variables = {}) {
  const env = { ...process.env, ...variables };
  const child = spawn(program, words, { env, stdio: ["pipe", "pipe", "pipe"] });
  node.keep({
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  });
  await Promise.race([once(child.stdout, "data"), once(child.stderr, "data")]);
  symlinkSync(`/proc/${child.pid}`, join(node.procfs, `${child.pid}`));
  return child;
}

/** One with kubelet's flags, under one of its names. */
async function runKubelet(node: DoctorNode, name: string, ...words: readonly string[]) {
  writeFileSync(node.at(name), "#!/bin/sh\necho started\nread forever\n");
  chmodSync(node.at(name), 0o755);
  return run(node, [node.at(name), ...words]);
}

/** A registrar that waits for its driver. */
const runRegistrar = (node: DoctorNode, words: readonly string[], variables = {}) => {
  const flags = ["--csi-address=/csi/x.sock", "--kubelet-registration-path=/csi/x.sock"];
  return run(node, [...registrarCommand(), ...flags, ...words], variables);
};

const node = eachTest(async () => {
  const made = await createDoctorNode();
  const other = made.at("other", "plugins_registry");
  mkdirSync(other, { recursive: true });
  return { ...made, other, flag: `--plugin-registration-path=${other}` };
});

test("a registrar of another kubelet root is named, with what kubelet watches", async () => {
  const { pid } = await runRegistrar(node, [node.flag]);
  const unsure = await node.look(WHOLE);
  expect(unsure.says("registrars")).toBe(
    `skipped: a registrar (process ${pid}) registers in ${node.other}, which is not ${node.directory}; fix: see whether a kubelet watches that directory, by its --root-dir`,
  );
  expect([unsure.drivers, unsure.summary.problem, unsure.healthy]).toEqual([[], 0, false]);
  await runKubelet(node, "kubelet", "--v=2", "--root-dir", join(node.directory, ".."));
  mkdirSync(node.at("plugins_registry"), { recursive: true });
  const pluginRegistrationPath = node.at("plugins_registry");
  const { says, drivers, ...look } = await node.look({ ...WHOLE, pluginRegistrationPath });
  expect(says("registrars")).toMatch(
    `problem: a registrar (process ${pid}) registers in ${node.other}; kubelet watches ${pluginRegistrationPath}; fix: mount the hostPath ${pluginRegistrationPath}`,
  );
  expect(problemsIn({ ...look, drivers })).toEqual(["CSI024"]);
  expect(drivers).toMatchObject([{ state: "unpublished", csiSocket: "/csi/x.sock" }]);
  expect(says("directory-kubelets")).toMatch(/^ok: .* is what kubelet watches, by its --root-dir$/);
});

test.each([
  ["x.csi", "its"],
  ["*", "a node-wide"],
])("a registrar of %s that runs, and has published nothing, is named by its process", async (name, whose) => {
  const csiSocketPath = node.at("plugins/x.csi/csi.sock");
  const given = csiSocketPath.replace("x.csi", name);
  const flags = [`--csi-address=${given}`, `--kubelet-registration-path=${given}`];
  const paths = [...flags, `--plugin-registration-path=${node.directory}`];
  mkdirSync(node.at("plugins/x.csi"), { recursive: true });
  const child = await run(node, [...registrarCommand(), ...paths]);
  child.kill("SIGSTOP");
  await node.driverUnder("x.csi");
  const { says, drivers } = await node.look(WHOLE);
  const registrar = `${whose} registrar (process ${child.pid})`;
  const fix = `see the log, or /readyz, of ${registrar}: it runs,`;
  expect(says("drivers-found")).toContain(`; fix: ${fix}`);
  const reason = `the driver answers; ${registrar} has not published it`;
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unpublished", reason }]);
  expect((await node.look({ csiSocketPath })).says("registration")).toContain(`; fix: ${fix}`);
});

test("a registrar of another kubelet of this machine is not a problem", async () => {
  await runRegistrar(node, [node.flag]);
  await runKubelet(node, "k3s-agent", `--kubelet-arg=root-dir=${node.at("other")}`);
  const { says, summary } = await node.look(WHOLE);
  expect(says("registrars")).toBe("");
  expect(summary.problem).toBe(0);
  expect(says("directory-kubelets")).toMatch(
    /^unknown: .* is not what kubelet \(process \d+\) watches: that is \S+other\/plugins_registry; fix: look there: --pl/,
  );
});

test.each([
  ["k3s", "none"],
  ["k3s", "an unknown part"],
  ["k3s", "here"],
  ["kubelet", "none"],
])("%s without --root-dir that watches %s of the default one's directory", async (name, watches) => {
  const root = node.at("its-root");
  const directory = join(root, "var/lib/kubelet/plugins_registry");
  mkdirSync(directory, { recursive: true });
  const process = join(node.procfs, "77");
  for (const folder of ["fd", "fdinfo"]) mkdirSync(join(process, folder), { recursive: true });
  symlinkSync(root, join(process, "root"));
  if (watches !== "an unknown part") symlinkSync("anon_inode:inotify", join(process, "fd", "5"));
  const ino = (watches === "here" ? statSync(directory).ino : 1).toString(16);
  writeFileSync(join(process, "fdinfo", "5"), `pos: 0\ninotify wd:1 ino:${ino} sdev:1\n`);
  writeFileSync(join(process, "comm"), `${name}\n`);
  writeFileSync(join(process, "cmdline"), `/usr/bin/${name}\0`);
  writeFileSync(join(process, "mountinfo"), "1 0 8:1 / / rw - ext4 /dev/sda rw\n");
  const { facts, says } = await node.look({ ...WHOLE, pluginRegistrationPath: directory });
  // k3s may have another root in its configuration file.
  const isSeen = name === "kubelet" || watches === "here";
  expect(itemsOf(facts.processes.kubelets).map(({ pid }) => pid)).toEqual(isSeen ? [77] : []);
  const unwatched = name === "kubelet" ? /^problem: kubelet \(process 77\) does not watch/ : /^$/;
  expect(says("kubelet")).toMatch(isSeen ? unwatched : /^skipped: kubelet is not seen from here/);
});

test("a process that may be a registrar by its name, and has no directory, is none", async () => {
  const process = join(node.procfs, "78");
  mkdirSync(process);
  symlinkSync(node.at("other"), join(process, "root"));
  const files = { comm: "node\n", cmdline: "node\0/app/cli.js\0", environ: "A=b\0" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(process, name), text);
  expect((await node.look(WHOLE)).says("registrars")).toBe("");
});

test("a process that only has kubelet's name changes nothing", async () => {
  await runRegistrar(node, [node.flag]);
  const before = await node.look(WHOLE);
  for (const root of ["nowhere", "plugins"]) {
    await runKubelet(node, "kubelet", `--root-dir=${node.at(root)}`);
    const { findings, drivers } = await node.look(WHOLE);
    expect({ findings, drivers }).toEqual({ findings: before.findings, drivers: before.drivers });
  }
});

test("a registrar that waits for its driver, with its directory from the environment; two of one driver", async () => {
  // On a node the path that kubelet gets is that of --csi-address.
  const empty = "--kubelet-registration-path=";
  const { pid } = await runRegistrar(node, [empty], { KUBELET_ROOT_DIR: join(node.other, "..") });
  const pluginRegistrationPath = node.other;
  const waits = `a registrar (process ${pid}) waits for its driver: /csi/x.sock is not there`;
  const { says, drivers } = await node.look({ ...WHOLE, pluginRegistrationPath });
  expect(says("registrars")).toContain(`problem: ${waits}`);
  expect(drivers).toMatchObject([{ name: null, state: "waiting", csiSocket: "/csi/x.sock" }]);
  await runRegistrar(node, [node.flag]);
  await node.driver();
  const both = (await node.look({ pluginRegistrationPath })).says("registrars");
  expect(both).toContain(`warning: ${waits}`);
  expect(both).toMatch(
    /^warning: \/csi\/x\.sock has 2 registrars on this node: processes \d+, \d+; fix: keep/m,
  );
});

test("two registrars of all drivers, as in a roll-out, are one warning", async () => {
  for (const name of ["x.csi", "y.csi"]) await node.driverUnder(name, { name });
  const pattern = node.at("plugins", "*", "csi.sock");
  const flags = [`--csi-address=${pattern}`, `--kubelet-registration-path=${pattern}`];
  const directory = `--plugin-registration-path=${node.directory}`;
  for (const _ of [1, 2]) await run(node, [...registrarCommand(), ...flags, directory]);
  await eventually(async () => {
    const { findings } = await node.look(WHOLE);
    const warnings = findings.filter(({ status }) => status === "warning");
    expect(warnings.map(({ code, subject, fix }) => `${code} ${subject} ${fix}`)).toEqual([
      expect.stringMatching(/^CSI018 x\.csi, y\.csi wait if a DaemonSet with maxSurge is being rolled out; /),
    ]);
  });
});

test("what a registrar left behind is a warning where another one answers, though its driver is not seen", async () => {
  await node.plugin("y.csi-reg.sock", { name: "y.csi", endpoint: "/unseen/csi.sock" });
  await leaveDeadSocket(join(node.directory, "x.csi-reg.sock"));
  expect((await node.look(WHOLE)).says("other-registrations")).toMatch(
    /^warning: \S+x\.csi-reg\.sock was left/,
  );
});

test("a node with nothing to judge is not reported as healthy", async () => {
  const { healthy, summary, says } = await node.look(WHOLE);
  expect([healthy, summary.problem]).toEqual([false, 0]);
  expect(says("registration")).toMatch(/^unknown: .* has no registration socket on which/);
});

test("plugins that are not there, outside of the host's root, are not unread", async () => {
  mkdirSync(node.at("host"));
  const { says } = await node.look({ ...WHOLE, hostRoot: node.at("host") });
  expect(says("drivers-found")).toBe("");
});

test.each<[string, RegExp]>([
  ...["", "run", "var/run", "tmp"].map((at): [string, RegExp] => [at, /fix: start the driver/]),
  ["run/x", /fix: the driver y\.csi listens on/],
])(
  "beside a dead socket in the host's /%s others are asked unless services have theirs there",
  async (at, said) => {
    const hostRoot = node.at("host");
    mkdirSync(join(hostRoot, at), { recursive: true });
    const csiSocketPath = join(hostRoot, at, "csi.sock");
    await leaveDeadSocket(csiSocketPath);
    await node.driver({ csiAddress: join(hostRoot, at, "y.sock"), name: "y.csi" });
    expect((await node.look({ csiSocketPath, hostRoot })).says("driver-socket")).toMatch(said);
  },
);

test.each(["plugins", "csi-plugins"])("a driver without a node service is reported in %s", async (folder) => {
  mkdirSync(node.at(folder, "x"), { recursive: true });
  const faults = [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }] as const;
  await node.driver({ csiAddress: node.at(folder, "x", "csi.sock"), faults });
  const { says, drivers, healthy } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(
    /^unknown: \S+csi\.sock has the driver x\.csi, which answers NodeGetInfo with.*; fix: if it is the node pl/,
  );
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unknown" }]);
  expect(healthy).toBe(false);
});
