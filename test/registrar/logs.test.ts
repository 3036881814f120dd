import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { status } from "@grpc/grpc-js";
import type { LogRecord } from "../../src/logging/logger";
import type { RegistrarOptions } from "../../src/registrar/model/options";
import { askInfo } from "../../src/registrar/registration/self-report";
import { HELLO } from "../grpc/wire";
import { controlWaits } from "../support/controlled-waits";
import { registerOnce } from "../support/dial-registration";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { PATIENCE_MS } from "../support/history";
import type { TestRegistrar } from "../support/registrar-node";
import { type Answer, type ScriptedDriver, startScriptedDriver } from "../support/scripted-driver";

const waits = controlWaits({ fromMs: 500 });
const MOUNTS = "../../src/unix/mounts";
const root = { device: "8:1", mountPoint: "/", root: "/", fileSystem: "ext4" };
jest.doMock(MOUNTS, () => ({ ...jest.requireActual(MOUNTS), readMounts: () => [root] }));
const POLL = "../../src/unix/directory-poll";
let hasStoodStill = false;
jest.doMock(POLL, () => ({ ...jest.requireActual(POLL), hasStoodStill: () => hasStoodStill }));
const loading = import("../support/registrar-node");
const node = eachTest(async () => (await loading).createTestNode());
const now = performance.now.bind(performance);
let passedMs = 0;
beforeEach(() => {
  jest.spyOn(Math, "random").mockReturnValue(0);
  jest.spyOn(performance, "now").mockImplementation(() => now() + passedMs);
});
afterEach(() => jest.restoreAllMocks());

/** What depends on the machine and on chance. */
const CHANCE: readonly (readonly [RegExp, string])[] = [
  [/(?<="(?:lasted|after|waited)":")\d+(?:\.\d+)?s/, "TIME"],
  [/-_[0-9a-z]{3}\b/g, "-_ALIAS"],
  [/\/\.out-[0-9a-z]{5}\b/g, "/.out-NAME"],
];

/** The lines with each message, in their order, each once. */
function told(records: readonly LogRecord[], path: string): Record<string, readonly string[]> {
  const all: Record<string, readonly string[]> = {};
  for (const { severity, verbosity, message, error, fields } of records) {
    const level = severity === "info" ? verbosity : severity;
    const why = error === undefined ? "" : `: ${error instanceof Error ? error.message : error}`;
    const line = `${level} ${JSON.stringify(fields)}${why}`.replaceAll(path, "NODE");
    const text = CHANCE.reduce((text, [what, by]) => text.replace(what, by), line);
    all[message] = [...new Set([...(all[message] ?? []), text])];
  }
  return all;
}

interface Play extends TestRegistrar {
  readonly driver: (...answers: readonly Answer[]) => Promise<ScriptedDriver>;
}
const x = { name: "x.csi" };
const drive = async (...answers: readonly Answer[]) =>
  node.keep(await startScriptedDriver(node.csiAddress, ...answers));

const PLAYS: Record<string, readonly [Partial<RegistrarOptions>, (play: Play) => Promise<unknown>]> = {
  "a driver that restarts, as another version, and under another name": [
    {},
    async ({ driver, accept, log, state, registrar }) => {
      const first = await driver(x);
      await state("listening");
      await accept();
      first.endConnections();
      await log.when("The driver ended a connection, and is still there");
      await first.kill();
      await log.when("Lost connection");
      const second = await driver({ ...x, vendorVersion: "v2" });
      await log.when("CSI driver came back as another version, its registration stays as it is");
      await second.kill();
      await driver({ name: "y.csi" });
      await log.when("Registration Server started", 2);
      await state("listening");
      await accept();
      await registrar.close();
    },
  ],
  "a driver that is not ready, and has an odd name": [
    {},
    async ({ driver, log, state }) => {
      const codes = ["UNAVAILABLE", "UNIMPLEMENTED", "DEADLINE_EXCEEDED", "PERMISSION_DENIED"] as const;
      await driver(...codes.map((code) => ({ code: status[code] })), { name: "x_csi" });
      for (const [failures, ms] of [
        [2, 1_000],
        [4, 30_000],
      ] as const) {
        await log.when("Error retreiving CSI driver name", failures);
        await eventually(() => expect(waits.pending().some((one) => one <= ms && one > ms / 2)).toBe(true));
        passedMs += ms;
        await waits.end(ms);
      }
      await state("listening");
    },
  ],
  "a driver with an unsafe name": [
    {},
    async ({ driver, registrar }) => {
      await driver({ name: "../x" });
      await registrar.closed;
    },
  ],
  "a refusal, the same again, and a success": [
    {},
    async ({ driver, state, refuse, accept }) => {
      await driver(x);
      await state("listening");
      await refuse("driverNodeID must not be empty");
      await waits.end(2_000);
      await state("listening");
      await refuse("driverNodeID must not be empty");
      await waits.end(4_000);
      await state("listening");
      await accept();
    },
  ],
  "a refusal that ends the registration": [
    { onRegistrationFailure: "end" },
    async ({ driver, state, registrar }) => {
      await driver(x);
      await state("listening");
      await registerOnce(node.socketPath(), "driverNodeID must not be empty");
      await registrar.closed;
    },
  ],
  "a silent kubelet, and clients that are none": [
    {},
    async ({ driver, state, log, ask, accept }) => {
      await driver(x);
      await state("listening");
      await waits.end(2_500);
      await log.when("Registration Server started", 2);
      await waits.end(30_000);
      await log.when("Kubelet has not called");
      const socketPath = (await log.when("Registration Server started", 2)).fields.socketPath as string;
      const client = connect({ path: socketPath });
      client.end("GET / HTTP/1.1\r\n\r\n");
      await new Promise((resolve) => client.resume().once("close", resolve));
      await waits.end(120_000);
      await log.when("Kubelet has not called", 2);
      const kubelet = await ask();
      await state("asked");
      await waits.end(150_000);
      await waits.end(150_000);
      await log.when("Kubelet called GetInfo and has not reported a status");
      await log.when("Kubelet reported no registration status, publishing again");
      kubelet[Symbol.dispose]();
      await state("listening");
      await accept();
    },
  ],
  "a kubelet that has the driver by another socket": [
    {},
    async ({ driver, state, log }) => {
      await leaveDeadSocket(node.socketPath());
      await driver(x);
      await state("listening");
      await waits.end(2_500);
      const { fields } = await log.when("Registration Server started", 2);
      const error = "already registered with a higher supported version";
      await registerOnce(String(fields.socketPath), error);
      await log.when(
        "Kubelet has, or is registering, the driver by another socket, waiting for it where we were",
      );
      await waits.end(30_000);
      await log.when("Kubelet has not called");
      await registerOnce(node.socketPath(), error);
      await log.when(
        "Kubelet has, or is registering, the driver by a socket that cannot be found, trying again later",
      );
    },
  ],
  "a process that stood still, and clients that had connected meanwhile": [
    {},
    async ({ driver, state, log }) => {
      await driver(x);
      await state("listening");
      hasStoodStill = true;
      const silent = connect({ path: node.socketPath() });
      const silents = async () =>
        (await askInfo(node.socketPath(), { timeoutMs: PATIENCE_MS })).report?.standbys;
      await eventually(async () => expect(await silents()).toBe(1));
      silent.destroy(); // Another registrar, that stands by.
      await eventually(async () => expect(await silents()).toBe(0));
      expect(log.all("Registration state changed")).toHaveLength(2);
      const client = connect({ path: node.socketPath() });
      client.write(HELLO);
      await once(client, "data");
      client.destroy();
      await state("asked");
      hasStoodStill = false;
    },
  ],
  "a peer that takes our place, and goes": [
    {},
    async ({ driver, state, log }) => {
      await driver(x);
      await state("listening");
      const peer = await startForeignSocket(node.socketPath());
      await log.when("Standing by for the registrar that holds the socket");
      await peer.kill();
      await state("listening");
    },
  ],
  "a directory that goes and comes back": [
    {},
    async ({ driver, state, log, accept }) => {
      await driver(x);
      await state("listening");
      await accept();
      rmSync(node.pluginRegistrationPath, { recursive: true });
      await log.when("Failed to listen on socket");
      mkdirSync(node.pluginRegistrationPath);
      await log.when("Registration Server started", 2);
      await state("listening");
    },
  ],
};

test.each(Object.entries(PLAYS))("what the log tells of %s", async (_what, [options, play]) => {
  await using started = await (await loading).startTestRegistrar(node, options);
  await play({ ...started, driver: drive });
  await started.registrar.close();
  expect(told(started.log.records, node.path)).toMatchSnapshot();
});

test("what the log tells of the drivers of a node", async () => {
  const { createFleetNode, startTestFleet } = await import("../support/fleet-node");
  await using node = await createFleetNode();
  await node.driver("first", { name: "a.csi" });
  await using started = await startTestFleet(node, {
    csiAddresses: [node.csiAddress("*"), node.at("away", "*", "s")],
    endpoints: ["/host/*/csi.sock", "/away/*/s"],
    names: { deny: ["denied.csi"] },
    driverGoneAfterMs: 3_600_000,
  });
  const { log } = started;
  await log.when("No CSI driver here yet");
  await started.register("a.csi");
  await node.driver("second", { name: "a.csi" });
  await log.when("Another CSI driver on this node has the name, waiting");
  await node.driver("denied", { name: "denied.csi" });
  await log.when("CSI driver is excluded by the name lists");
  await node.driver("unsafe", { name: "../x" });
  await log.when("Trying again later, or when the CSI driver restarts");
  const renamed = await node.driver("third", { name: "b.csi" });
  await started.register("b.csi");
  await renamed.kill();
  await log.when("Lost connection");
  await node.driver("third", { name: "c.csi" });
  await started.register("c.csi");
  node.remove("first");
  await log.when("CSI driver has gone");
  await eventually(async () => expect(await started.register("a.csi")).toBe("/host/second/csi.sock"));
  await started.fleet.close();
  const lines = Object.entries(told(log.records, node.path)).map(([message, lines]) => [
    message,
    lines.toSorted(),
  ]);
  expect(Object.fromEntries(lines)).toMatchSnapshot();
});
