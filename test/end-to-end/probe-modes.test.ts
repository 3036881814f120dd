import { statSync } from "node:fs";
import { promisify } from "node:util";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { protos } from "../../src/grpc/protos";
import type { CsiDriverFault } from "../../src/testing";
import { DRIVER, nodeTest, onNode, registered, type TestNode } from "./support/node";

async function probe(
  node: TestNode,
  mode: "health-probe" | "ready-probe",
  ...flags: readonly string[]
): Promise<number | null> {
  return (await node.registrar(`--mode=${mode}`, ...flags).exit()).code;
}

nodeTest("while the driver is waited for: healthy, not ready", async (node) => {
  const registrar = node.registrar("-v=5");
  await registrar.line("Connecting");
  expect(await probe(node, "health-probe")).toBe(0);
  expect(await probe(node, "ready-probe")).toBe(1);
});

test.each<[string, CsiDriverFault]>([
  ["hangs", { kind: "hang", method: "GetPluginInfo" }],
  ["is slow", { kind: "slow", method: "GetPluginInfo", delayMs: 30_000 }],
  ["fails", { kind: "error", method: "GetPluginInfo", code: "UNAVAILABLE" }],
])(
  "while the driver %s: healthy, not ready",
  onNode(async (node, _what, fault) => {
    await node.driver({ faults: [fault] });
    const registrar = node.registrar("-v=5");
    await registrar.line("Calling CSI driver to discover driver name");
    expect(await probe(node, "health-probe")).toBe(0);
    expect(await probe(node, "ready-probe")).toBe(1);
  }),
);

nodeTest("while another registrar has the socket, which is not ours: healthy, not ready", async (node) => {
  const other = new Server();
  const info = { type: "CSIPlugin", name: DRIVER, endpoint: node.csiAddress, supportedVersions: ["1.0.0"] };
  other.addService(protos.registration, {
    GetInfo: (_call: unknown, answer: (error: null, info: object) => void) => answer(null, info),
    NotifyRegistrationStatus: () => {},
  });
  const bind = promisify(other.bindAsync.bind(other));
  await bind(`unix:${node.socketPath}`, ServerCredentials.createInsecure());
  await node.driver();
  expect(await probe(node, "health-probe")).toBe(0);
  const probing = node.registrar("--mode=ready-probe");
  expect((await probing.exit()).code).toBe(1);
  expect(probing.stderr).toContain("another registrar holds the driver's registration socket");
  expect(
    (await node.registrar("--mode=health-probe", "--kubelet-registration-path=/other.sock").exit()).code,
  ).toBe(1);
  other.forceShutdown();
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

nodeTest(
  "a registration directory that is not there yet is no reason to restart a registrar that waits",
  async (node) => {
    const missing = `--plugin-registration-path=${node.pluginDir}/not-there`;
    expect((await node.registrar("--mode=health-probe", missing).exit()).code).toBe(0);
    const probing = node.registrar("--mode=ready-probe", missing);
    expect((await probing.exit()).code).toBe(1);
    expect(probing.stderr).toMatch(
      /cannot look into the plugin registration directory .*not-there: ENOENT.*is it mounted/,
    );
  },
);

nodeTest("a mistyped probe touches nothing and says which was meant", async (node) => {
  await node.driver();
  const registrar = node.registrar();
  await registered(await node.kubelet());
  const { ino } = statSync(node.socketPath);
  for (const [mode, complaint] of [
    ["helth-probe", "did you mean health-probe?"],
    ["Ready-Probe", "did you mean ready-probe?"],
    ["liveness-probe", "the probes are health-probe, ready-probe, kubelet-registration-probe"],
  ]) {
    const probing = node.registrar(`--mode=${mode}`);
    expect((await probing.exit()).code).toBe(2);
    expect(probing.stderr.split("\n")[0]).toBe(`invalid value "${mode}" for flag -mode: ${complaint}`);
  }
  expect(statSync(node.socketPath).ino).toBe(ino);
  expect(registrar.lines("Registration state changed").at(-1)?.fields.to).toBe("registered");
});

nodeTest("a registrar that hangs is not healthy", async (node) => {
  await node.driver();
  const registrar = node.registrar();
  await registrar.reached("listening");
  registrar.kill("SIGSTOP");
  expect(await probe(node, "health-probe", "--timeout=1s")).toBe(1);
  registrar.kill("SIGCONT");
});
