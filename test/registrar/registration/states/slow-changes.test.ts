import { chmodSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { controlWaits } from "../../../support/controlled-waits";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { leaveDeadSocket } from "../../../support/foreign-socket";
import { identityOf } from "../../../support/identity-of";
import { recordLog } from "../../../support/recorded-log";
import type { TestRegistrar } from "../../../support/registrar-node";
import { startScriptedDriver } from "../../../support/scripted-driver";

const waits = controlWaits({ fromMs: 300 });
const loading = import("../../../support/registrar-node");

const LOOK_EVERY_MS = 5_000;
const name = "x.csi";
const node = eachTest(async () => (await loading).createTestNode());
let nowMs = 0;
beforeEach(async () => {
  // The clock stands: looks are at whole multiples of their distance, so that each is a whole distance away.
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

const publications = ({ registrar }: TestRegistrar) => registrar.status().counters.publications;
/** Resolves when the next look is waited for. */
const untilIdle = () => eventually(() => expect(waits.pending()).toContain(LOOK_EVERY_MS));

test("a directory that was mounted again without an event is watched from the next look on", async () => {
  const folders = ["one", "other"].map((root) => join(node.pluginRegistrationPath, root, "kubelet", "reg"));
  const [one = "", other = ""] = folders;
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const mount = join(node.pluginRegistrationPath, "mount");
  symlinkSync("one", mount);
  await using started = await (await loading).startListening(node, {
    pluginRegistrationPath: join(mount, "kubelet/reg"),
  });
  await untilIdle(); // It watches the folder by now.
  const warning = "The plugin registration directory was removed or replaced, which kubelet does not notice";
  expect(started.log.all(warning)).toEqual([]);
  const file = `${name}-reg.sock`;
  linkSync(join(one, file), join(other, file));
  symlinkSync("other", `${mount}~`);
  renameSync(`${mount}~`, mount);
  expect(identityOf(join(mount, "kubelet/reg", file))).toBe(identityOf(join(one, file)));
  await waits.end(LOOK_EVERY_MS);
  await untilIdle();

  rmSync(join(other, file));
  await eventually(() => expect(publications(started)).toHaveProperty(["directory-gone"], 1));
  await started.log.when(warning);
});

test("while a driver is registered, the dot-sockets that killed starts left are removed", async () => {
  const left = join(node.pluginRegistrationPath, ".reg-0a1b2");
  await leaveDeadSocket(left);
  await using started = await (await loading).startListening(node);
  await started.accept();
  await waits.end(10_000);
  await eventually(() => expect(existsSync(left)).toBe(false));
});

test("a node-wide registrar that starts removes them, too", async () => {
  const { answerProbes } = await import("../../../../src/registrar/node-wide/probe-socket");
  const left = join(node.pluginRegistrationPath, ".ask-0a1b2");
  await leaveDeadSocket(left);
  const stop = new AbortController();
  const at = { pluginRegistrationPath: node.pluginRegistrationPath, pairs: [] };
  const context = { log: recordLog().logger, signal: stop.signal };
  const answering = answerProbes({ scope: "node-wide", all: [] }, at, context);
  await waits.end(10_000);
  await eventually(() => expect(existsSync(left)).toBe(false));
  stop.abort();
  await answering;
});

test("a registration ends at once, also with a killed start's dot-socket to remove", async () => {
  await leaveDeadSocket(join(node.pluginRegistrationPath, ".reg-0a1b2"));
  await using started = await (await loading).startListening(node);
  await started.accept();
  await eventually(() => expect(waits.pending()).toContain(10_000));
  expect(await started.registrar.close()).toEqual({ kind: "stopped" });
});

test("a driver that refuses access is asked again after half a minute", async () => {
  const answers = [{ code: status.PERMISSION_DENIED }, { name }];
  await using _driver = await startScriptedDriver(node.csiAddress, ...answers);
  await using started = await (await loading).startTestRegistrar(node);
  await started.log.when("Error retreiving CSI driver name");
  await eventually(() => expect(waits.pending()).toContain(30_000));
  nowMs += 10_000;
  chmodSync(node.csiAddress, 0o700); // It looks, and does not begin to wait anew.
  await eventually(() => expect(waits.pending()).toContain(20_000));
  nowMs += 20_000;
  await waits.end(20_000);
  await started.state("listening");
});
