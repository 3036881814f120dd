import { parseAllDocuments } from "yaml";
import { startRegistrar } from "../../../src";
import { eventually } from "../../support/eventually";
import { createTestNode } from "../../support/registrar-node";
import { runCommand } from "../../support/run-command";
import { createTempFolder } from "../../support/temp-folder";
import { type RunningCommand, startCommand } from "../support/command";

/** A kubelet in the foreground; `register` puts a driver and its registrar beside it. */
async function withKubelet(
  flags: readonly string[],
  use: (kubelet: RunningCommand, register: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using node = await createTestNode();
  using kubelet = startCommand(["kubelet", "--plugin-registration-path", node.pluginDir, ...flags]);
  await kubelet.line(/watches|"started"/);
  await use(kubelet, async () => {
    await node.driver({ nodeId: "node-1", topology: { zone: "a" }, maxVolumes: 7 });
    const options = { ...node.options, endpoint: node.csiAddress };
    node.keep(await startRegistrar({ ...options, onRegistrationFailure: "retry" }));
  });
}

test("tells in JSON each step of a registration, and ends clean on SIGINT", () =>
  withKubelet(["--output", "json"], async (kubelet, register) => {
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
    expect(told.at(-1)).toMatchObject({ kind: "stopped", because: "close" });
    expect(kubelet.stderr).toBe("");
  }));

test("tells people who called whom and for how long", () =>
  withKubelet([], async (kubelet, register) => {
    await kubelet.line(/it mounts nothing and talks to no API server/);
    await register();
    await kubelet.line(/sees x\.csi-reg\.sock$/);
    await kubelet.line(/ GetInfo → x\.csi-reg\.sock: {.*"name":"x\.csi",.*} \(.* m?s\)$/);
    await kubelet.line(/NodeGetInfo → csi\.sock: {"nodeId":"node-1","maxVolumesPerNode":7,/);
    await kubelet.line(/writes CSINode node-1: drivers x\.csi$/);
    await kubelet.line(/x\.csi is registered at .*csi\.sock$/);
    expect(await kubelet.end("SIGTERM")).toBe(0);
  }));

test("prints objects as YAML when they change and at the end", () =>
  withKubelet(["--print", "node,csinode"], async (kubelet, register) => {
    await register();
    await kubelet.line(/x\.csi is registered/);
    expect(await kubelet.end("SIGINT")).toBe(0);
    const yaml = kubelet.lines.filter((line) => !/^\d\d:|^A simulated/.test(line)).join("\n");
    const documents = parseAllDocuments(yaml);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const objects = documents.map((document) => document.toJS());
    expect(objects.map(({ kind }) => kind)).toEqual(["Node", "CSINode", "Node", "CSINode"]);
    expect(objects[0].metadata.labels).toMatchObject({ zone: "a" });
    expect(objects[1].spec.drivers).toMatchObject([{ name: "x.csi", nodeID: "node-1" }]);
    expect(objects.slice(2)).toEqual(objects.slice(0, 2));
  }));

test("refuses as often as it is asked to, slow before a call", () =>
  withKubelet(
    ["--refuse", "no such node", "--refuse-times", "1", "--slow", "GetInfo=20ms:1"],
    async (kubelet, register) => {
      await register();
      await kubelet.line(/applies the fault {"kind":"slow","before":"GetInfo","delayMs":20,"times":1}$/);
      await kubelet.line(/x\.csi is refused: RegisterPlugin error -- .*no such node$/);
      await kubelet.line(/tries again, after 500 ms at the earliest: /);
      await kubelet.line(/x\.csi is registered/);
    },
  ));

test("never calls, if asked to", () =>
  withKubelet(["--never-call"], async (kubelet, register) => {
    await register();
    await kubelet.line(/waiting \S+x\.csi-reg\.sock never-call$/);
  }));

test("restarts, and registers what it finds", () =>
  withKubelet(["--restart-every", "2s"], async (kubelet, register) => {
    await register();
    await kubelet.line(/kubelet is killed and starts again$/);
    const before = kubelet.lines.findIndex((line) => line.endsWith("starts again"));
    await eventually(() => expect(kubelet.lines.slice(before).join("\n")).toContain("x.csi is registered"));
  }));

test("a folder that it cannot watch is one line and exit code 1", async () => {
  const stderr = expect.stringMatching(
    /^registrar kubelet: cannot watch the plugin directory .*: EEXIST; .*\n$/,
  );
  const line = ["kubelet", "--plugin-registration-path", __filename];
  expect(await runCommand(...line)).toEqual({ status: 1, stdout: "", stderr });
});

test("--until ends it with 0 once the driver is registered and its registrar knows", () =>
  withKubelet(["--until=registered=x.csi", "--timeout=60s"], async (kubelet, register) => {
    await register();
    expect(await kubelet.exitCode()).toBe(0);
    expect(kubelet.lines.join("\n")).toContain("NotifyRegistrationStatus →");
  }));

test("--until ends it with 1 if that has not happened after --timeout", async () => {
  await using folder = await createTempFolder();
  const flags = [`--plugin-registration-path=${folder.at("reg")}`, "--timeout=100ms"];
  expect(await runCommand("kubelet", "--until=registered=x.csi", ...flags)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^registrar kubelet: x\.csi is not registered: .*100/m),
  });
});
