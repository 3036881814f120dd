import { nodeTest, registered, type TestNode } from "./support/node";

async function probe(node: TestNode, mode: "health-probe" | "ready-probe"): Promise<number | null> {
  return (await node.registrar(`--mode=${mode}`).exit()).code;
}

nodeTest("while the driver is waited for: healthy, not ready", async (node) => {
  const registrar = node.registrar("-v=5");
  await registrar.line("Connecting");
  expect(await probe(node, "health-probe")).toBe(0);
  expect(await probe(node, "ready-probe")).toBe(1);
});

nodeTest("announced: healthy; registered: ready too; ended: neither", async (node) => {
  await node.driver();
  const registrar = node.registrar("-v=4");
  await registrar.reached("listening");
  expect(await probe(node, "health-probe")).toBe(0);
  expect(await probe(node, "ready-probe")).toBe(1);
  await registered(await node.kubelet());
  await registrar.reached("registered");
  expect(await probe(node, "health-probe")).toBe(0);
  expect(await probe(node, "ready-probe")).toBe(0);
  // A probe is no call of kubelet's.
  expect(registrar.lines("Received GetInfo call")).toHaveLength(1);
  await registrar.stop();
  expect(await probe(node, "health-probe")).toBe(1);
  expect(await probe(node, "ready-probe")).toBe(1);
});

nodeTest("a registrar that hangs is not healthy", async (node) => {
  await node.driver();
  const registrar = node.registrar();
  await registrar.reached("listening");
  registrar.kill("SIGSTOP");
  expect(await probe(node, "health-probe")).toBe(1);
  registrar.kill("SIGCONT");
});
