import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { leaveDeadSocket } from "../support/foreign-socket";
import { nodeTest, onNode, registered } from "./support/node";

const FAILED = "Error retreiving CSI driver name";

nodeTest("a driver that comes later, in a folder that comes later, is registered", async (node) => {
  const csiAddress = join(dirname(node.csiAddress), "plugins", "disk", "csi.sock");
  const kubelet = await node.kubelet();
  const registrar = node.registrar(
    "-v=5",
    `--csi-address=${csiAddress}`,
    `--kubelet-registration-path=${csiAddress}`,
  );
  await registrar.line("Connecting");
  mkdirSync(dirname(csiAddress), { recursive: true });
  await node.driver({ csiAddress });
  expect((await registered(kubelet)).endpoint).toBe(csiAddress);
});

nodeTest("a socket that a former driver left behind is waited on", async (node) => {
  await leaveDeadSocket(node.csiAddress);
  const kubelet = await node.kubelet();
  const registrar = node.registrar("-v=5");
  await registrar.line("Connecting");
  await node.driver();
  await registered(kubelet);
});

nodeTest("a driver that fails at first is asked again", async (node) => {
  const faults = [{ kind: "error", method: "GetPluginInfo", code: "UNAVAILABLE", times: 2 }] as const;
  const driver = await node.driver({ faults });
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  await registered(kubelet);
  expect(registrar.lines(FAILED).map(({ severity, fields }) => `${severity} ${fields.next}`)).toEqual([
    "E retry",
  ]);
  const calls = driver.events.history().filter((event) => event.kind === "answered");
  expect(calls.filter(({ method }) => method === "GetPluginInfo")).toHaveLength(3);
});

nodeTest("--timeout bounds a call to a driver that hangs, and the next one succeeds", async (node) => {
  await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo", times: 1 }] });
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--timeout=300ms");
  expect((await registrar.line(FAILED)).fields.err).toMatch(/DEADLINE_EXCEEDED/);
  await registered(kubelet);
});

nodeTest("a driver without GetPluginInfo is asked again only when it comes back", async (node) => {
  const faults = [{ kind: "error", method: "GetPluginInfo", code: "UNIMPLEMENTED" }] as const;
  const former = await node.driver({ faults });
  const kubelet = await node.kubelet();
  const registrar = node.registrar();
  expect((await registrar.line(FAILED)).fields.next).toMatch(/^wait until the driver restarts/);
  await former.kill();
  await node.driver();
  await registered(kubelet);
  const asked = former.events.history().filter((event) => event.kind === "called");
  expect(asked.map(({ method }) => method)).toEqual(["GetPluginInfo"]);
});

nodeTest(
  "a driver that does not let us in is asked again at a slow pace, or when it comes back",
  async (node) => {
    const faults = [{ kind: "error", method: "GetPluginInfo", code: "PERMISSION_DENIED" }] as const;
    const former = await node.driver({ faults });
    const kubelet = await node.kubelet();
    const registrar = node.registrar();
    expect((await registrar.line(FAILED)).fields.next).toMatch(/^retry in 30s/);
    await former.kill();
    await node.driver();
    await registered(kubelet);
  },
);

nodeTest("our requests carry the authority localhost", async (node) => {
  const driver = await node.driver();
  node.registrar();
  expect((await driver.events.when("called")).authority).toBe("localhost");
});

test.each([
  ["is not there", async () => {}],
  ["left its socket", (path: string) => leaveDeadSocket(path)],
])(
  "--driver-timeout ends the wait for a driver that %s: exit code 1",
  onNode(async (node, _, prepare) => {
    await prepare(node.csiAddress);
    const flags = ["--driver-timeout=300ms", `--termination-log=${node.terminationLogPath}`];
    const registrar = node.registrar(...flags);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });
    const reason = `no answer from the CSI driver on ${node.csiAddress} within the driver timeout of 0.3 s`;
    expect(registrar.stderr).toContain(reason);
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain(reason);
    expect(node.files()).toEqual([]);
  }),
);

nodeTest("--driver-timeout ends the wait for a driver that hangs, too", async (node) => {
  await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  const registrar = node.registrar("--driver-timeout=500ms", "--timeout=1m");
  expect((await registrar.exit()).code).toBe(1);
});

nodeTest("--driver-timeout says nothing once the driver answered", async (node) => {
  const driver = await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar("--driver-timeout=3s");
  await registered(kubelet);
  await driver.kill();
  await registrar.line("Lost connection");
  expect(existsSync(node.socketPath)).toBe(true);
});
