import { readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { dialRegistration } from "../support/dial-registration";
import { eventually } from "../support/eventually";
import { PATIENCE_MS } from "../support/history";
import { parseLogLine } from "./support/log-line";
import { DRIVER, nodeTest, onNode, refused, registered, registrarArguments } from "./support/node";

const OF_A_STRANGER = "GetInfo of a client that is not kubelet was answered";

const SOURCES = join(__dirname, "../../src");
/** Whether a source file of this name logs in this line. */
const hasLogCall = (caller = "") => {
  const [name, line] = caller.split(":");
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const named = files.filter((file) => basename(file) === name);
  return named.some((file) => {
    const text = readFileSync(join(SOURCES, file), "utf8").split("\n")[Number(line) - 1];
    return /\blog\.(?:v\(.*\)\.)?(?:info|warn|error|v)\(/.test(text ?? "");
  });
};

/** What the official v2.17.0 says on this node with these flags, with keys and values. */
nodeTest(
  "a driver is registered; at -v=5 the official's messages appear, with their keys, in order",
  async (node) => {
    const { csiAddress, socketPath } = node;
    const official: readonly (readonly [message: string, fields: Readonly<Record<string, string>>])[] = [
      ["Version", { version: expect.stringMatching(/^v\d/), node: process.version }], // Node's is ours.
      ["Running node-driver-registrar", { mode: "" }],
      ["--connection-timeout is deprecated and will have no effect", {}],
      ["Attempting to open a gRPC connection", { csiAddress }],
      ["Connecting", { address: `unix://${csiAddress}` }],
      ["Calling CSI driver to discover driver name", {}],
      ["GRPC call", { method: "/csi.v1.Identity/GetPluginInfo", request: "{}" }],
      ["GRPC response", { response: `{"name":"${DRIVER}","vendor_version":"1.0.0"}`, err: "null" }],
      ["CSI driver name", { csiDriverName: DRIVER }],
      ["Starting Registration Server", { socketPath }],
      ["Registration Server started", { socketPath }],
      ["Received GetInfo call", { request: "" }],
      ["Received NotifyRegistrationStatus call", { status: "plugin_registered:true" }],
    ];
    await node.driver({ nodeId: "node-7", topology: { "example.com/zone": "b" }, maxVolumes: 12 });
    const kubelet = await node.kubelet();
    const registrar = node.registrar("-v=5", "--connection-timeout=1m");
    expect(await registered(kubelet)).toMatchObject({ endpoint: csiAddress, socketPath });
    expect(kubelet.csiNode().spec.drivers).toEqual([
      { name: DRIVER, nodeID: "node-7", topologyKeys: ["example.com/zone"], allocatable: { count: 12 } },
    ]);
    await registrar.reached("registered");
    expect(node.visibleFiles()).toEqual([`${DRIVER}-reg.sock`]);
    expect(statSync(socketPath).mode & 0o777).toBe(0o700);
    const messages = official.map(([message]) => message);
    expect(
      registrar
        .lines()
        .flatMap(({ message, fields }) => (messages.includes(message) ? [[message, fields]] : [])),
    ).toEqual(official.map(([message, fields]) => [message, expect.objectContaining(fields)]));
    // The official says this after "Registration Server started"; our server is there before the driver is.
    expect(registrar.lines("Skipping HTTP server")).toHaveLength(1);
    using stranger = dialRegistration(socketPath, "localhost");
    await stranger.getInfo();
    await eventually(() => expect(registrar.lines(OF_A_STRANGER)).toHaveLength(1));
    for (const line of registrar.stderr.trimEnd().split("\n")) {
      const parsed = parseLogLine(line);
      expect(parsed?.pid).toBe(registrar.pid);
      expect([line, hasLogCall(parsed?.caller)]).toEqual([line, true]);
    }
  },
);

const REASON = 'error updating CSINode object: the API server said "no" & went away';
const RESTARTING = "Registration process failed with error, restarting registration container";

test.each(["1.20", "1.36"] as const)(
  "after a refusal by kubelet %s the registrar answers, logs its words, removes the socket and exits with 1",
  onNode(async (node, version) => {
    await node.driver();
    const kubelet = await node.kubelet({ version, faults: [{ kind: "refuse", error: REASON }] });
    const registrar = node.registrar(`--termination-log=${node.terminationLogPath}`);
    const { error: reason } = await refused(kubelet);
    expect(reason).toContain(REASON);
    expect(await registrar.exit()).toEqual({ code: 1, signal: null });

    const notice = await kubelet.events.when("called", { where: ({ call }) => call.startsWith("Notify") });
    expect(notice.result).toEqual({ kind: "ok" });
    expect(registrar.lines(RESTARTING).map(({ fields }) => fields.err)).toEqual([reason]);
    expect(readFileSync(node.terminationLogPath, "utf8")).toContain(reason);
    expect(node.files()).toEqual([]);
  }),
);

nodeTest("a wrong kubelet registration path is named in a hint", async (node) => {
  await node.driver();
  await node.kubelet();
  const log = `--termination-log=${node.terminationLogPath}`;
  const registrar = node.registrar("--kubelet-registration-path=/nowhere/csi.sock", log);
  expect((await registrar.exit()).code).toBe(1);
  const { fields } = await registrar.line(RESTARTING);
  expect(fields.err).toContain("/nowhere/csi.sock");
  expect(fields.hint).toContain("--kubelet-registration-path");
  expect(readFileSync(node.terminationLogPath, "utf8")).toBe(
    `kubelet refused the driver: ${fields.err} (${fields.hint})\n`,
  );
});

const EARLIER = "Kubelet has, or is registering, the driver by another socket, waiting for it where we were";

test.each([
  ["1.35", "SIGTERM", "csi.sock"],
  ["1.35", "SIGKILL", "*.sock"],
  ["1.36", "SIGKILL", "csi.sock"],
  ["1.36", "SIGTERM", "*.sock"],
] as const)(
  "a registrar that starts while NodeGetInfo runs for an earlier one does not exit, and is registered after it: %s, %s, %s",
  onNode(async (node, version, signal, pattern) => {
    const hang = { kind: "hang", method: "NodeGetInfo", times: 1 } as const;
    const driver = await node.driver({ faults: [hang], waitTimeoutMs: PATIENCE_MS });
    const kubelet = await node.kubelet({ version });
    const args = registrarArguments(node, node.csiAddress.replace("csi.sock", pattern));
    const earlier = node.cli(args);
    await driver.events.when("fault-applied");
    earlier.kill(signal);
    await earlier.exit();

    const registrar = node.cli(args);
    await registrar.line(EARLIER);
    expect(node.visibleFiles()).toEqual([`${DRIVER}-reg.sock`]);
    const { csiAddress } = await node.driver({ csiAddress: node.at("next.sock") });
    renameSync(csiAddress, node.csiAddress);
    await driver.kill(); // NodeGetInfo ends.

    await registered(kubelet);
    await registrar.reached("registered");
    expect(node.visibleFiles()).toEqual([`${DRIVER}-reg.sock`]);
    expect(registrar.lines(EARLIER)).toHaveLength(1);
  }),
);
