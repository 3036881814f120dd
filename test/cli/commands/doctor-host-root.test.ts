import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { startRegistrar } from "../../../src/registrar/start-registrar";
import { startCsiDriver } from "../../../src/simulator/driver/csi-driver";
import { startFakeRegistrar } from "../../simulator/fake-registrar";
import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import { createTempFolder, type TempFolder } from "../../support/temp-folder";

// As under `kubectl debug node`: the host's root is a folder here, and whoever runs on the host has the host's paths.

const NAME = "disk.csi.example.com";
const PLUGIN = `/var/lib/kubelet/plugins/${NAME}/csi.sock`;
const REGISTRY = "/var/lib/kubelet/plugins_registry";

async function onHost(use: (host: TempFolder) => Promise<void>): Promise<void> {
  await using host = await createTempFolder();
  for (const folder of [REGISTRY, PLUGIN.replace("/csi.sock", "")])
    mkdirSync(host.at(folder), { recursive: true });
  await use(host);
}

async function run(host: TempFolder, command: string, ...words: readonly string[]) {
  const line = [command, `--host-root=${host.path}`, "--timeout=1m", ...words];
  const { status, stdout } = await runCommand(...line);
  return { code: status, text: stdout };
}

const driverOn = (host: TempFolder) =>
  startCsiDriver({ csiAddress: host.at(PLUGIN), name: NAME, nodeId: "n1" });

test("a driver that nobody registers is found below the host's root", () =>
  onHost(async (host) => {
    await using _driver = await driverOn(host);
    const { code, text } = await run(host, "doctor", "-o", "json");
    const { drivers, findings, target } = JSON.parse(text);
    expect(target.pluginRegistrationPath).toBe(host.at(REGISTRY));
    expect(drivers).toMatchObject([{ name: NAME, state: "unpublished", csiSocket: host.at(PLUGIN) }]);
    expect(findings).toContainEqual(expect.objectContaining({ code: "CSI020", status: "problem" }));
    expect(code).toBe(1);
  }));

test("what kubelet is told is a path of the host: it is looked for below its root", () =>
  onHost(async (host) => {
    const driver = await driverOn(host);
    await using _registrar = await startRegistrar({
      csiAddress: host.at(PLUGIN),
      kubeletRegistrationPath: PLUGIN,
      pluginRegistrationPath: host.at(REGISTRY),
    });
    await eventually(() => expect(existsSync(host.at(REGISTRY, `${NAME}-reg.sock`))).toBe(true));
    const endpoints = async () => {
      const { findings } = JSON.parse((await run(host, "doctor", "-o", "json")).text);
      return findings.filter(({ code }: { code: string }) => code === "CSI016");
    };
    expect(await endpoints()).toMatchObject([{ status: "ok" }]);
    const status = await run(host, "status");
    expect(status.text).toMatch(new RegExp(`^${NAME} +listening +`, "m"));
    expect(status.text).toContain(PLUGIN);
    await driver.close();
    expect(await endpoints()).toMatchObject([{ status: "problem" }]);
  }));

test.each(["/csi/csi.sock", PLUGIN.replace(NAME, "wrong")])(
  "a wrong path, %s: the right one is in the fix",
  (wrong) =>
    onHost(async (host) => {
      await using _driver = await driverOn(host);
      await using _registrar = await startFakeRegistrar({
        socketPath: host.at(REGISTRY, `${NAME}-reg.sock`),
        info: { name: NAME, endpoint: wrong },
      });
      const fix = `write --kubelet-registration-path=${PLUGIN}`;
      const fixes = async (...words: readonly string[]) => {
        const { findings } = JSON.parse((await run(host, "doctor", "-o", "json", ...words)).text);
        const wrongs = findings.filter((one: { status: string }) => one.status === "problem");
        return wrongs.map(({ code, fix }: Record<string, string>) => [code, fix]);
      };
      expect(await fixes()).toEqual([["CSI016", fix]]);
      const paths = [`--csi-address=${host.at(PLUGIN)}`, `--kubelet-registration-path=${wrong}`];
      expect(await fixes(...paths)).toContainEqual(["CSI016", fix]);
    }),
);

test("a path that leads to no socket below kubelet's root: the driver's own is in the fix", () =>
  onHost(async (host) => {
    await using _driver = await driverOn(host);
    const wrong = PLUGIN.replace("csi.sock", "other.sock");
    const paths = [`--csi-address=${host.at(PLUGIN)}`, `--kubelet-registration-path=${wrong}`];
    const { findings } = JSON.parse((await run(host, "doctor", "-o", "json", ...paths)).text);
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "CSI007", fix: `write --kubelet-registration-path=${PLUGIN}` }),
    );
  }));

test("an empty host has no kubelet there, and no other's is taken for it", () =>
  onHost(async (host) => {
    const { text } = await run(host, "doctor");
    expect(text).toContain(host.at(REGISTRY));
    expect(text).not.toContain(NAME);
  }));

test.each(["doctor", "status"])(
  "%s says in one line that there is no host below the path, and exits 3",
  async (command) => {
    await using folder = await createTempFolder();
    writeFileSync(folder.at("file"), "");
    for (const [name, what] of [
      ["nope", "is not there"],
      ["file", "is not a folder"],
    ] as const)
      expect(await runCommand(command, `--host-root=${folder.at(name)}`, "-o", "json")).toEqual({
        status: 3,
        stdout: "",
        stderr: `registrar ${command}: --host-root=${folder.at(name)} ${what}: nothing of the host can be looked at\n`,
      });
  },
);
