import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { startCsiDriver } from "../../src/simulator/driver/csi-driver";
import { startKubelet } from "../../src/simulator/kubelet/kubelet";
import { type CliProcess, startCli } from "../end-to-end/support/process";
import { eventually } from "../support/eventually";
import { PATIENCE_MS } from "../support/history";
import { describeWithNamespaces } from "../support/sandbox/describe-with-namespaces";
import { createImageRoot, ENTRY } from "../support/sandbox/image-root";
import { containerCommand, makeMountPoints, pidInside } from "../support/sandbox/sandbox";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { fencesIn, readText } from "./markdown";

// The session of docs/doctor.md, played again in mount namespaces: the paths that kubelet gets, where the driver's socket is on
// the host, and what is mounted where, are as in a cluster.

const NAME = "disk.csi.example.com";
const REGISTRY = "var/lib/kubelet/plugins_registry";
const PLUGIN = `var/lib/kubelet/plugins/${NAME}`;
const WRONG = ["--csi-address=/csi/csi.sock", "--kubelet-registration-path=/csi/csi.sock"];

const [, session = ""] = /## A session(.*?)### A cluster/s.exec(readText("docs/doctor.md")) ?? [];
const [message = "", wrongPath = ""] = fencesIn(session, "text");
/** What a fence has above its last line: how many things are unknown depends on who looks, and where. */
const aboveSum = (fence: string) => fence.replace(/\n+(?:\d+ problem|No problem).*$/s, "");
const sumOf = (fence: string) => /^\d+ problems?, \d+ warnings?/m.exec(fence)?.[0];

/** A run of the doctor that finds a problem and prints this fence; what it says of owners depends on who made the files. */
async function expectFence(doctor: CliProcess, fence: string): Promise<void> {
  expect((await doctor.exit()).code).toBe(1);
  for (const part of aboveSum(fence).split("\n\n"))
    expect(withoutOwner(doctor.stdout)).toContain(withoutOwner(part));
  expect(sumOf(doctor.stdout)).toBe(sumOf(fence));
}
const withoutOwner = (text: string) => text.replace(/\s+/g, " ").replace(/\(mode \d+, owner \d+:\d+\)/g, "");

describeWithNamespaces("the session of docs/doctor.md", () => {
  let container: TempFolder;
  beforeAll(async () => {
    container = await createImageRoot();
    makeMountPoints(container.path);
  });
  afterAll(() => container[Symbol.asyncDispose]());

  async function createHost() {
    const folder = await createTempFolder();
    for (const one of [REGISTRY, PLUGIN]) await mkdir(folder.at(one), { recursive: true });
    const terminationLog = folder.at("termination-log");
    writeFileSync(terminationLog, "");
    const mounts = {
      "/csi": folder.at(PLUGIN),
      "/registration": folder.at(REGISTRY),
      "/dev/termination-log": terminationLog,
    };
    const command = containerCommand(container.path, mounts, ENTRY);
    return {
      folder,
      terminationLog,
      driver: () => startCsiDriver({ csiAddress: folder.at(PLUGIN, "csi.sock"), name: NAME, nodeId: "n1" }),
      kubelet: () => startKubelet({ pluginRegistrationPath: folder.at(REGISTRY), reconcilePeriodMs: 50 }),
      /** In a container that has the driver's folder at /csi and kubelet's at /registration. */
      run: (...words: readonly string[]) => startCli(words, {}, { command, pidOf: pidInside }),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }

  test("a registrar with the container's path: at each restart the termination message has the flag", async () => {
    await using host = await createHost();
    await using _driver = await host.driver();
    await using _kubelet = await host.kubelet();
    for (let restart = 0; restart < 2; restart++) {
      writeFileSync(host.terminationLog, "");
      await using registrar = host.run(...WRONG);
      expect(await registrar.exit()).toEqual({ code: 1, signal: null });
      expect(readFileSync(host.terminationLog, "utf8")).toBe(message);
    }
  });

  test("the doctor in that container", async () => {
    await using host = await createHost();
    await using _driver = await host.driver();
    await using kubelet = await host.kubelet();
    await using registrar = host.run(...WRONG, "--on-registration-failure=retry");
    // Between two attempts, and their pauses grow: the doctor looks while the registrar waits.
    let times = 0;
    await kubelet.events.when("refused", { where: () => ++times === 4, timeoutMs: PATIENCE_MS });
    await registrar.reached("refused");
    // On a busy machine the doctor may come late, and find the next attempt.
    await eventually(async () => {
      await using doctor = host.run("doctor", ...WRONG, "--timeout=1m");
      await expectFence(doctor, wrongPath);
    });
  });
});
