import { readdirSync } from "node:fs";
import { createLogger, type LoggerOption } from "../../src/logging/logger";
import type { RegistrarEvent } from "../../src/registrar/model/events";
import { startNodeRegistrar } from "../../src/registrar/start-node-registrar";
import { startRegistration } from "../../src/registrar/start-registration";
import { registerOnce } from "../support/fake-kubelet";
import { recordLog } from "../support/recorded-log";
import { createTestNode, ENDPOINT, type TestNode } from "../support/registrar-node";
import { expectNothingLeft } from "../support/resources";
import { startScriptedDriver } from "../support/scripted-driver";

// A caller gives functions: what a log is written to, what listens to events. Whatever they do, the driver is
// registered, `closed` settles, nothing is left, and no exception is left to the process.

let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const name = "x.csi";
const start = (logger: LoggerOption, onEvent?: (event: RegistrarEvent) => unknown) => {
  const { pluginRegistrationPath } = node;
  return startRegistration({ name, endpoint: ENDPOINT, pluginRegistrationPath, logger, onEvent });
};
const files = () => readdirSync(node.pluginRegistrationPath);
const broken = () => {
  throw new Error("the disk is full");
};
const later = async () => broken();

test.each<[string, LoggerOption]>([
  ["a sink that throws", createLogger({ enabled: () => true, write: broken })],
  ["a sink that rejects", createLogger({ enabled: () => true, write: later })],
  ["a console that throws", { info: broken, warn: broken, error: broken }],
])("with %s", (_what, logger) =>
  expectNothingLeft(async () => {
    const registration = await start(logger);
    await registerOnce(node.socketPath(name));
    await registration.ready;
    expect(await registration.close()).toEqual({ kind: "stopped" });
    expect(files()).toEqual([]);
  }),
);

const FAILED = "A listener to events failed";

test("listeners that throw or reject, and loops that break off: the log has what they failed with", () =>
  expectNothingLeft(async () => {
    const log = recordLog();
    const first: unknown[] = [];
    const registration = await start(log.logger, (event) => {
      first.push("change" in event ? event.change.to : event.kind);
      broken();
    });
    // It misses none, while `subscribe` begins when the socket is in place.
    expect(first).toEqual(["publishing", "published", "listening"]);
    registration.subscribe("notified", later);
    const looping = (async () => {
      for await (const { kind } of registration) throw new Error(`broken off at ${kind}`);
    })();
    await registerOnce(node.socketPath(name));
    await registration.ready;
    await expect(looping).rejects.toThrow("broken off at asked");
    expect(await registration.close()).toEqual({ kind: "stopped" });
    const told = log.all(FAILED).map(({ severity, error, fields }) => [severity, String(error), fields]);
    expect(told.length).toBeGreaterThan(5);
    expect(told).toContainEqual(["error", "Error: the disk is full", { event: "state-changed" }]);
    expect(files()).toEqual([]);
  }));

test("the same at all drivers of a node, whose events end with it", () =>
  expectNothingLeft(async () => {
    await using _driver = await startScriptedDriver(node.csiAddress, { name });
    const log = recordLog();
    const owners = new Set<unknown>();
    const registrar = await startNodeRegistrar({
      csiAddresses: [node.csiAddress],
      kubeletRegistrationPaths: [ENDPOINT],
      pluginRegistrationPath: node.pluginRegistrationPath,
      logger: log.logger,
      onEvent: async ({ registration }) => {
        owners.add(registration.csiAddress);
        throw new Error("the disk is full");
      },
    });
    const seen: unknown[] = [];
    const looping = (async () => {
      for await (const { change, registration } of registrar.iterate("state-changed"))
        seen.push([registration.name, change.to]);
    })();
    registrar.subscribe("published", () => void registerOnce(node.socketPath(name)));
    await log.when("Registration state changed", 4);
    expect(registrar.options).toMatchObject({ csiAddresses: [node.csiAddress], driverGoneAfterMs: 30_000 });
    expect(await registrar.close()).toEqual({ kind: "stopped" });
    await looping;
    expect(seen).toContainEqual([name, "registered"]);
    expect([...owners]).toEqual([node.csiAddress]);
    expect(log.all(FAILED).length).toBeGreaterThan(5);
  }));
