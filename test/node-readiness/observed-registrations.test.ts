import { observeAll, observeRegistrations } from "../../src/node-readiness/observed-registrations";
import { startNodeReadiness } from "../../src/node-readiness/start-node-readiness";
import { only } from "../../src/registrar/registration/registrations";
import { startRegistration } from "../../src/registrar/start-registration";
import { eachTest } from "../support/each-test";
import { createFleetNode, startTestFleet } from "../support/fleet-node";
import { createTestNode } from "../support/registrar-node";

const node = eachTest(createFleetNode);

test("a driver that the name lists exclude is left to its own registrar", async () => {
  await using started = await startTestFleet(node, { names: { deny: ["a.csi"] } });
  await node.driver("a.csi");
  await started.log.when("CSI driver is excluded by the name lists");
  expect(started.fleet.all[0]?.status()).toMatchObject({ identity: { name: "a.csi" }, state: "waiting" });
  expect(observeRegistrations(started.fleet)?.all()).toMatchObject([
    { state: "waiting", driverName: undefined },
  ]);
});

test("a node-wide registrar needs {driver} in each taint and condition", async () => {
  await using started = await startTestFleet(node);
  const registrations = started.fleet;
  const access = { server: "https://127.0.0.1:1", authority: undefined };
  const options = { registrations, nodeName: "n", access, condition: "Ready1" };
  await expect(startNodeReadiness(options)).rejects.toThrow(/"Ready1" would be the same for sev/);
});

test("of two drivers with one name the one that holds it counts, also if it was found later", async () => {
  await using started = await startTestFleet(node);
  const b = await node.driver("b", "hang", { name: "one.csi" });
  await b.called(1);
  await node.driver("a", { name: "one.csi" });
  await started.register("one.csi");
  await started.state("a", "registered");
  b.endConnections();
  await started.log.when("Another CSI driver on this node has the name, waiting");
  expect(observeRegistrations(started.fleet)?.all()).toMatchObject([
    { driverName: undefined, registeredAtMs: undefined },
    { driverName: "one.csi", registeredAtMs: expect.any(Number) },
  ]);
});

test("a driver counts as registered since the last time", () => {
  const history = ["registered", "asked", "registered", "asked"].map((to, atMs) => ({ to, atMs }));
  const registration = { status: () => ({ state: "asked", history, counters: {} }) } as never;
  const registrations = { scope: "one-driver", all: [registration], subscribe: () => () => {} } as const;
  expect(observeAll(registrations).all()).toMatchObject([{ registeredAtMs: 2 }]);
});

test("a driver that answered, or another state of its registration, is news for the node", () => {
  const [heard, news] = [jest.fn(), { listener: (_event: { readonly kind: string }) => {} }];
  const subscribe = (listener: never) => {
    news.listener = listener;
    return () => {};
  };
  observeAll({ scope: "one-driver", all: [], subscribe } as never).subscribe(heard);
  const kinds = ["get-info", "driver-answered", "notify", "state-changed"];
  const heardAfter = (kind: string) => {
    news.listener({ kind });
    return heard.mock.calls.length;
  };
  expect(kinds.map(heardAfter)).toEqual([0, 1, 1, 2]);
});

test("plugins other than CSI drivers are not looked for in CSINode", async () => {
  await using plugin = await createTestNode();
  const { csiAddress: endpoint, pluginDir: pluginRegistrationPath } = plugin;
  const supportedVersions = ["v1.DRAPlugin"] as const;
  const options = { name: "gpu.example.com", supportedVersions, endpoint, pluginRegistrationPath };
  const registration = plugin.keep(await startRegistration({ type: "DRAPlugin", ...options }));
  expect(observeRegistrations(registration)?.all()).toMatchObject([{ reregister: undefined }]);
});

test("a registration is listened to like a node's: all events or one kind, until a signal", async () => {
  await using plugin = await createTestNode();
  const { csiAddress: endpoint, pluginDir: pluginRegistrationPath } = plugin;
  const registration = plugin.keep(
    await startRegistration({ name: "a.csi", endpoint, pluginRegistrationPath }),
  );
  const { subscribe } = only(registration);
  const heard: unknown[] = [];
  const kinds = new Set<string>();
  subscribe("state-changed", (event) => heard.push(event.registration, event.change.to));
  subscribe(({ kind }) => kinds.add(kind));
  subscribe("state-changed", () => heard.push("too late"), { signal: AbortSignal.abort() });
  await registration.close();
  expect(heard.slice(-2)).toEqual([registration, "stopped"]);
  expect(heard).not.toContain("too late");
  expect([...kinds]).toContain("state-changed");
});
