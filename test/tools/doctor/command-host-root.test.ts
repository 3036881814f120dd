import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { startRegistrar } from "../../../src/registrar/start-registrar";
import { startCsiDriver } from "../../../src/simulator/driver/csi-driver";
import { startFakeRegistrar } from "../../simulator/fake-registrar";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";

// As under `kubectl debug node`: the host's root is a folder here, and whoever runs on the host has the host's paths.

const NAME = "disk.csi.example.com";
const PLUGIN = `/var/lib/kubelet/plugins/${NAME}/csi.sock`;
const REGISTRY = "/var/lib/kubelet/plugins_registry";

/** `run` starts a command beside it, and `doctor` reads what that says. */
const host = eachTest(async () => {
  const folder = await createTempFolder();
  for (const path of [REGISTRY, dirname(PLUGIN)]) mkdirSync(folder.at(path), { recursive: true });
  const run = (command: string, ...words: readonly string[]) =>
    runCommand(command, `--host-root=${folder.path}`, "--timeout=1m", ...words);
  return {
    ...folder,
    run,
    doctor: async (...words: readonly string[]) =>
      JSON.parse((await run("doctor", "-o", "json", ...words)).stdout),
    driver: () => startCsiDriver({ csiAddress: folder.at(PLUGIN), name: NAME, nodeId: "n1" }),
  };
});

/** Those of this driver, among what registrars of other tests serve. */
const ownIn = ({ drivers }: { readonly drivers: readonly { readonly name: string | null }[] }) =>
  drivers.filter(({ name }) => name === NAME);

test("kubelet's path is looked up below the host's root", async () => {
  const { at, driver: start, doctor, run } = host;
  const driver = await start();
  const report = await doctor();
  expect(report.target.pluginRegistrationPath).toBe(at(REGISTRY));
  expect(ownIn(report)).toMatchObject([{ state: "unpublished", csiSocket: at(PLUGIN) }]);
  expect(report.findings).toContainEqual(expect.objectContaining({ code: "CSI020", status: "problem" }));

  const paths = { csiAddress: at(PLUGIN), endpoint: PLUGIN, pluginRegistrationPath: at(REGISTRY) };
  await using _registrar = await startRegistrar(paths);
  await eventually(() => expect(existsSync(at(REGISTRY, `${NAME}-reg.sock`))).toBe(true));
  const endpoints = async () =>
    (await doctor()).findings.filter(({ code }: { code: string }) => code === "CSI016");
  expect(await endpoints()).toMatchObject([{ status: "ok" }]);
  expect((await run("status")).stdout).toMatch(new RegExp(`^${NAME} +listening +.*${PLUGIN}`, "m"));
  await driver.close();
  expect(await endpoints()).toMatchObject([{ status: "problem" }]);
});

test.each<
  readonly [
    code: string,
    status: string,
    flag: string,
    given: (at: string) => string,
    meant: (at: string) => string,
  ]
>([
  ["CSI002", "unknown", "csi-address", () => PLUGIN, (at) => at + PLUGIN],
  ["CSI008", "problem", "plugin-registration-path", () => REGISTRY, (at) => at + REGISTRY],
  ["CSI007", "unknown", "kubelet-registration-path", (at) => at + PLUGIN, () => PLUGIN],
])(
  "a path that lacks the way to the host's root, or has it: %s",
  async (code, status, flag, given, meant) => {
    const { path, driver: start, doctor } = host;
    await using _driver = await start();
    const { findings } = await doctor(`--${flag}=${given(path)}`);
    const command = `--${flag}=${meant(path)}`;
    expect(findings).toContainEqual(expect.objectContaining({ code, status, command }));
  },
);

test("an absolute link at kubelet's root, as on MicroK8s, is followed on the host", async () => {
  const { at, doctor } = host;
  const [root, snap] = ["/var/lib/kubelet", "/var/snap/microk8s/common/var/lib/kubelet"];
  mkdirSync(dirname(at(snap)), { recursive: true });
  renameSync(at(root), at(snap));
  symlinkSync(snap, at(root));
  const csiAddress = at(PLUGIN.replace(root, snap));
  await using _driver = await startCsiDriver({ csiAddress, name: NAME, nodeId: "n1" });
  const socketPath = at(REGISTRY.replace(root, snap), `${NAME}-reg.sock`);
  await using _registrar = await startFakeRegistrar({ socketPath, info: { name: NAME, endpoint: PLUGIN } });
  const report = await doctor();
  expect(report.target.pluginRegistrationPath).toBe(dirname(socketPath));
  expect(ownIn(report)).toMatchObject([{ state: "unreported", csiSocket: PLUGIN }]);
  expect(report.findings).toContainEqual(expect.objectContaining({ code: "CSI016", status: "ok" }));
});

/** As on a host where kubelet's root is an absolute link, and so is each driver's directory. */
const linkRoot = (at: (...parts: string[]) => string) => {
  const [root, real, data] = ["/var/lib/kubelet", "/var/snap/kl", `/data/${NAME}`];
  mkdirSync(dirname(at(real)), { recursive: true });
  renameSync(at(root), at(real));
  symlinkSync(real, at(root));
  mkdirSync(at(data), { recursive: true });
  rmSync(at(real, "plugins", NAME), { recursive: true });
  symlinkSync(data, at(real, "plugins", NAME));
  return { csiAddress: at(data, "csi.sock"), registry: at(REGISTRY.replace(root, real)) };
};

test("--csi-address below links is reached as on the host", async () => {
  const { at, doctor } = host;
  const { csiAddress } = linkRoot(at);
  await using _driver = await startCsiDriver({ csiAddress, name: NAME, nodeId: "n1" });
  const report = await doctor(`--csi-address=${at(PLUGIN)}`);
  expect(report.target).toMatchObject({ csiAddress, kubeletRegistrationPath: PLUGIN });
  expect(ownIn(report)).toMatchObject([{ state: "unpublished", csiSocket: csiAddress }]);
  for (const code of ["CSI002", "CSI007"])
    expect(report.findings).toContainEqual(expect.objectContaining({ code, status: "ok" }));
});

test.each([
  ["*", "csi.sock"],
  ["*", "*", "csi.sock"],
])("drivers that fit a pattern below links are reached as on the host: %j", async (...pattern) => {
  const { at, doctor } = host;
  const below = pattern.slice(1).map((name) => name.replace("*", "sub"));
  for (const path of ["real/sub", "data"]) mkdirSync(at(path), { recursive: true });
  symlinkSync("/data", at("opt"));
  symlinkSync("/real", at("data", NAME));
  const csiAddress = at("real", ...below);
  await using _driver = await startCsiDriver({ csiAddress, name: NAME, nodeId: "n1" });
  const report = await doctor(`--csi-address=${at("opt", ...pattern)}`);
  expect(ownIn(report)).toMatchObject([{ state: "unpublished", csiSocket: csiAddress }]);
});

test("a registration socket that is an absolute link is the host's own", async () => {
  const { at, doctor, run } = host;
  const { csiAddress, registry } = linkRoot(at);
  await using _driver = await startCsiDriver({ csiAddress, name: NAME, nodeId: "n1" });
  const info = { name: NAME, endpoint: PLUGIN };
  await using _registrar = await startFakeRegistrar({ socketPath: at("/data/reg.sock"), info });
  symlinkSync("/data/reg.sock", `${registry}/${NAME}-reg.sock`);
  const report = await doctor();
  const registrationSocket = `${registry}/${NAME}-reg.sock`;
  expect(ownIn(report)).toMatchObject([{ state: "unreported", registrationSocket }]);
  expect(report.findings).toContainEqual(expect.objectContaining({ code: "CSI016", status: "ok" }));
  expect((await run("status")).stdout).toMatch(new RegExp(`^${NAME} +unreported `, "m"));
});

test("what only the way to the host's root makes too long is reached from its open directory", async () => {
  const { at, doctor, run } = host;
  const directory = `/var/lib/kubelet/plugins/${"x".repeat(60)}.csi`;
  mkdirSync(at(directory));
  symlinkSync(at(directory), at("short"));
  await using _driver = await startCsiDriver({ csiAddress: at("short/csi.sock"), name: NAME, nodeId: "n1" });
  const path = at(directory, "csi.sock");
  expect([Buffer.byteLength(path) > 107, Buffer.byteLength(`${directory}/csi.sock`)]).toEqual([true, 98]);
  const namely = [`--csi-address=${path}`, `--kubelet-registration-path=${directory}/csi.sock`];
  const asUrl = namely.map((word) => word.replace("--csi-address=", "--csi-address=unix://"));
  for (const words of [[], namely, asUrl]) {
    const { findings, drivers } = await doctor(...words);
    expect(JSON.stringify(findings)).not.toMatch(/ENAMETOOLONG|CSI001/);
    expect(ownIn({ drivers })).toMatchObject([{ name: NAME, state: "unpublished", csiSocket: path }]);
  }
  expect((await run("status")).status).toBe(1);
});

test("the path that kubelet dials is told without the way to the host's root", async () => {
  const { at, doctor } = host;
  const { findings } = await doctor(`--csi-address=${at(PLUGIN)}`);
  expect(findings).toContainEqual(expect.objectContaining({ code: "CSI002", subject: at(PLUGIN) }));
  const dialled = { code: "CSI007", subject: PLUGIN, follows: "CSI002" };
  expect(findings).toContainEqual(expect.objectContaining(dialled));
});

test("a wrong path: the right one is in the fix", async () => {
  const { at, driver, doctor } = host;
  await using _driver = await driver();
  const wrong = PLUGIN.replace(NAME, "wrong");
  const info = { name: NAME, endpoint: wrong };
  await using _registrar = await startFakeRegistrar({ socketPath: at(REGISTRY, `${NAME}-reg.sock`), info });
  const fix = `--kubelet-registration-path=${PLUGIN}`;
  const wrongs = (report: { readonly findings: readonly Record<string, string>[] }) =>
    report.findings
      // Registrars of other tests are misplaced, seen from here.
      .filter(({ status, text = "" }) => status === "problem" && !text.includes(" registers in "))
      .map(({ code, command }) => [code, command]);
  expect(wrongs(await doctor())).toEqual([["CSI016", fix]]);
  const paths = (path: string) => [`--csi-address=${at(PLUGIN)}`, `--kubelet-registration-path=${path}`];
  expect(wrongs(await doctor(...paths(wrong)))).toContainEqual(["CSI016", fix]);
  // To no socket below kubelet's root.
  expect(wrongs(await doctor(...paths(`${PLUGIN}.other`)))).toContainEqual(["CSI007", fix]);
});

test("on an empty host no other kubelet is taken for its own", async () => {
  const { at, run } = host;
  const { stdout } = await run("doctor");
  expect(stdout).toContain(at(REGISTRY));
  expect(stdout).not.toContain(NAME);
});

test.each([
  ["doctor", "nope", "is not there"],
  ["status", "file", "is not a directory"],
])("%s says in one line that there is no host below %s, and exits 3", async (command, name, what) => {
  writeFileSync(host.at("file"), "");
  expect(await runCommand(command, `--host-root=${host.at(name)}`, "-o", "json")).toEqual({
    status: 3,
    stdout: expect.stringContaining(`"schema": "registrar.${command}/1"`),
    stderr: `registrar ${command}: --host-root=${host.at(name)} ${what}: cannot inspect the host\n`,
  });
});
