import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { controlWaits } from "../../../support/controlled-waits";
import { eventually } from "../../../support/eventually";
import { dialRegistration } from "../../../support/fake-kubelet";
import { identityOf } from "../../../support/identity-of";
import type { TestNode, TestRegistrar } from "../../../support/registrar-node";
import { type ScriptedDriver, startScriptedDriver } from "../../../support/scripted-driver";

const waits = controlWaits({ fromMs: 300 });
const loading = import("../../../support/registrar-node");

const LOOK_EVERY_MS = 5_000;
/** Longer than kubelet may be between GetInfo and its registration status. */
const TOO_LONG_MS = 150_001;
const name = "x.csi";
let node: TestNode;
let driver: ScriptedDriver;
let passedMs = 0;
beforeEach(async () => {
  node = await (await loading).createTestNode();
  driver = await startScriptedDriver(node.csiAddress, { name });
  // The looks are at whole multiples of their distance: the next one is a whole distance away.
  const now = performance.now.bind(performance);
  passedMs = LOOK_EVERY_MS - (now() % LOOK_EVERY_MS);
  jest.spyOn(performance, "now").mockImplementation(() => now() + passedMs);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await driver.stop();
  await node[Symbol.asyncDispose]();
});

const publications = ({ registrar }: TestRegistrar) => registrar.status().tally.publications;
/** Ends the wait for the next look, and resolves when the one after that is waited for. */
async function look(): Promise<void> {
  const isLook = (ms: number) => ms <= LOOK_EVERY_MS;
  const before = await eventually(() => {
    const found = waits.pending().find(isLook);
    if (found === undefined) throw new Error("no look is waited for");
    return found;
  });
  await waits.end(before);
}

test("a folder that was mounted anew without a sign is watched from the next look on", async () => {
  const { startTestRegistrar } = await loading;
  const folders = ["one", "other"].map((root) => join(node.pluginRegistrationPath, root, "kubelet", "reg"));
  const [one = "", other = ""] = folders;
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const mount = join(node.pluginRegistrationPath, "mount");
  symlinkSync("one", mount);
  await using started = await startTestRegistrar(node, {
    pluginRegistrationPath: join(mount, "kubelet/reg"),
  });
  await started.state("listening");
  const file = `${name}-reg.sock`;
  linkSync(join(one, file), join(other, file));
  symlinkSync("other", `${mount}~`);
  renameSync(`${mount}~`, mount);
  expect(identityOf(join(mount, "kubelet/reg", file))).toBe(identityOf(join(one, file)));
  await look();
  await eventually(() => expect(waits.pending().some((ms) => ms <= LOOK_EVERY_MS)).toBe(true));

  rmSync(join(other, file));
  await eventually(() => expect(publications(started)).toHaveProperty(["socket-gone"], 1));
});

test("a kubelet that asked and then says nothing for too long is waited for no more", async () => {
  const { startTestRegistrar } = await loading;
  await using started = await startTestRegistrar(node);
  await started.state("listening");
  using kubelet = dialRegistration(node.socketPath(name));
  await kubelet.getInfo();
  await started.state("asked");
  rmSync(node.socketPath(name));
  passedMs += TOO_LONG_MS;
  await look();
  await eventually(() => expect(publications(started)).toHaveProperty(["socket-gone"], 1));
});
