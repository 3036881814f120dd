import { startRegistrar } from "../../../src";
import { startFakeRegistrar } from "../../simulator/fake-registrar";
import { createTestNode } from "../../support/registrar-node";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { parseAll } from "../../support/yaml";
import { type RunningCommand, startCommand } from "../support/command";

/** A kubelet in the foreground; `register` puts a driver and its registrar beside it. */
async function withKubelet(
  flags: readonly string[],
  use: (
    kubelet: RunningCommand,
    register: (name?: string) => Promise<void>,
    node: Awaited<ReturnType<typeof createTestNode>>,
  ) => Promise<void>,
): Promise<void> {
  await using node = await createTestNode();
  using kubelet = startCommand(["kubelet", "--plugin-registration-path", node.pluginDir, ...flags]);
  await kubelet.line(/watches|"started"/);
  const register = async (name = "x.csi") => {
    const csiAddress = node.at(`${name}.sock`);
    await node.driver({ csiAddress, name, nodeId: "node-1", topology: { zone: "a" }, maxVolumes: 7 });
    const options = { ...node.options, csiAddress, endpoint: csiAddress };
    node.keep(await startRegistrar({ ...options, onRegistrationFailure: "retry" }));
  };
  await use(kubelet, register, node);
}

test("`kubelet` prints each step of a registration as JSON, and ends on SIGINT", () =>
  withKubelet(["--output", "json", "--kubelet-version", "1.30"], async (kubelet, register) => {
    await register();
    expect(await kubelet.object("registered")).toMatchObject({
      driverName: "x.csi",
      pluginType: "CSIPlugin",
    });
    expect(await kubelet.end("SIGINT")).toBe(0);
    const told = kubelet.lines.map((line) => JSON.parse(line));
    expect(told.map(({ kind, call }) => call ?? kind)).toEqual(
      expect.arrayContaining(["socket-seen", "dial", "GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"]),
    );
    expect(told.find(({ kind }) => kind === "csi-node-changed").csiNode).toMatchObject({
      metadata: { name: "node-1" },
      spec: { drivers: [{ name: "x.csi", topologyKeys: ["zone"], allocatable: { count: 7 } }] },
    });
    expect(told[0]).toMatchObject({ kind: "started", version: "1.30" });
    expect(told.at(-1)).toMatchObject({ kind: "stopped", because: "close" });
    expect(kubelet.stderr).toBe("");
  }));

test("`kubelet` prints callers, durations and the changed object as text", () =>
  withKubelet(["--print", "csinode"], async (kubelet, register) => {
    await kubelet.line(/it mounts nothing and talks to no API server/);
    await register();
    await kubelet.line(/"socket-seen" socketPath=".*x\.csi-reg\.sock" generation=\d+ replaced=false$/);
    await kubelet.line(/"called" call="GetInfo" socketPath=".*" durationMs=[\d.]+ result=.*"name":"x\.csi"/);
    await kubelet.line(/"registered" driverName="x\.csi" .*endpoint=".*x\.csi\.sock"/);
    expect(await kubelet.end("SIGTERM")).toBe(0);
    const yaml = kubelet.lines.filter((line) => !/^\d\d:|^A simulated/.test(line)).join("\n");
    expect(parseAll(yaml)).toMatchObject([
      { kind: "CSINode", spec: { drivers: [{ name: "x.csi", nodeID: "node-1" }] } },
    ]);
  }));

test("`kubelet` refuses as often as its flag says", () =>
  withKubelet(["--refuse", "no such node", "--refuse-times", "1"], async (kubelet, register) => {
    await register();
    await kubelet.line(/"refused" .*driverName="x\.csi" .*error="RegisterPlugin error -- .*no such node"$/);
    await kubelet.line(/"failed" .*backoffMs=500 retries=/);
    await kubelet.line(/"registered" driverName="x\.csi"/);
  }));

test("`kubelet` that cannot watch its directory prints one line and exits with 1", async () => {
  const stderr = expect.stringMatching(
    /^registrar kubelet: cannot watch the plugin directory .*: EEXIST; .*\n$/,
  );
  const line = ["kubelet", "--plugin-registration-path", __filename];
  expect(await runCommand(...line)).toEqual({ status: 1, stdout: "", stderr });
});

test("--until ends it with 0 once the driver is registered and its registrar knows", () =>
  withKubelet(["--until=registered=x.csi", "--timeout=60s"], async (kubelet, register, node) => {
    await register("another.csi");
    await kubelet.line(/"called" call="NotifyRegistrationStatus" socketPath=".*another/);
    const csiAddress = node.at("x.sock");
    await node.driver({ csiAddress, name: "x.csi" });
    await using registrar = await startFakeRegistrar({
      socketPath: node.socketPath("x.csi"),
      info: { endpoint: csiAddress },
      before: (method) =>
        method === "NotifyRegistrationStatus" && kubelet.line(/"registered" driverName="x\.csi"/),
    });
    await registrar.events.when("notified");
    expect(await kubelet.exitCode()).toBe(0);
    const told = kubelet.lines.filter((line) => line.includes('call="NotifyRegistrationStatus"'));
    expect(told.at(-1)).toMatch(/"called" .*socketPath=".*x\.csi-reg\.sock".* result=/);
  }));

test("--until ends it with 1 if that has not happened after --timeout", async () => {
  await using folder = await createTempFolder();
  const flags = [`--plugin-registration-path=${folder.at("reg")}`, "--timeout=100ms"];
  expect(await runCommand("kubelet", "--until=registered=x.csi", ...flags)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^registrar kubelet: x\.csi is not registered: .*100/m),
  });
  expect((await runCommand("kubelet", "--help")).stdout).toMatch(/--timeout .*\[default: 5m\]/);
});
