import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { eachTest } from "../../../support/each-test";
import { startForeignSocket } from "../../../support/foreign-socket";
import { createDoctorNode, type DoctorNode, IMPATIENT_MS, problemsIn, WHOLE } from "./doctor-node";

const node = eachTest(createDoctorNode);

test("a healthy driver has no finding", async () => {
  const topology = { "example.com/zone": "a" };
  await node.driver({ vendorVersion: "1.2", nodeId: "n1", topology, maxVolumes: 12 });
  const { says } = await node.look();
  expect(says("driver-socket")).toMatch(/^ok: .* accepts connections \(mode 0\d{3}, owner \d+:\d+\)$/);
  expect(says("driver-identity")).toMatch(/^ok: x\.csi is what .* answers to GetPluginInfo, version 1\.2$/);
  expect(says("driver-name")).toBe("ok: x.csi is a legal name");
  const nodeInfo = "ok: n1 is the node ID of x.csi; topology example.com/zone=a; at most 12 volumes";
  expect(says("driver-node-info")).toBe(nodeInfo);
  expect(says("kubelet-path")).toMatch(/^ok: /);
});

const FILE = (node: DoctorNode) => writeFileSync(node.csiAddress, "");
const PLUGIN = (node: DoctorNode) => node.plugin("y-reg.sock", { name: "y" });
const OTHER = (node: DoctorNode) => node.driver({ csiAddress: node.at("other.sock") });
const LOOP = (node: DoctorNode) => symlinkSync("csi.sock", node.csiAddress);
const NOTHING = () => {};

test.each([
  [NOTHING, "csi.sock", /^problem: .*is not there; fix: start the driver/, /^unknown: /],
  [NOTHING, "no/csi.sock", /^problem: .* nor is its directory; fix: correct the path/, /^unknown: /],
  [
    OTHER,
    "csi.sock",
    /is not there; fix: the driver x\.csi listens on \S+other\.sock: correct the path$/,
    /^unknown: /,
  ],
  [FILE, "csi.sock", /^problem: .*csi\.sock is a file, not a socket/, /^unknown: /],
  [LOOP, "csi.sock", /^problem: .*csi\.sock cannot be inspected: ELOOP; fix: correct/, /^unknown: /],
  [NOTHING, "reg", /reg is a directory, not a socket/, /^unknown: /],
  [PLUGIN, "reg/y-reg.sock", /^ok: /, /fails GetPluginInfo: Unimplemented: .*; fix: correct --csi/],
])("without a driver doctor finds %p, and names %s", async (arrange, name, ofSocket, ofDriver) => {
  await arrange(node);
  const { says } = await node.look({ csiSocketPath: node.at(name) });
  expect(says("driver-socket")).toMatch(ofSocket);
  expect(says("driver-identity")).toMatch(ofDriver);
  expect(says("driver-node-info")).toBe("");
});

test("a topology larger than a Node's labels is reported by its sizes, and not read", async () => {
  const topology = Object.fromEntries(Array.from({ length: 150_000 }, (_, n) => [`example.com/${n}`, "a"]));
  await node.driver({ topology });
  const said = (await node.look()).says("driver-node-info");
  expect(said).toMatch(
    /^problem: the CSI driver fails NodeGetInfo: ResourceExhausted: .* its answer has \d{7} bytes, 1572864 is the most; kubelet registers no driver without that answer; fix: have the driver answer fewer/,
  );
  expect(said.length).toBeLessThan(500);
});

test("a path too long for a socket is not dialled, because it would be cut", async () => {
  const cut = node.at("s".repeat(106 - node.at("").length));
  const connected = jest.fn();
  await using _there = await startForeignSocket(node.at("short"), connected);
  renameSync(node.at("short"), cut);
  const tooLong = `${cut}.sock`;
  const { says } = await node.look({ csiSocketPath: tooLong, kubeletRegistrationPath: tooLong });
  expect(says("driver-socket")).toMatch(
    /^problem: .*has 112 bytes, but a unix socket path has at most 107; fix: /,
  );
  expect(says("kubelet-path")).toMatch(/^problem: .*has 112 bytes/);
  expect(connected).not.toHaveBeenCalled();
});

const hang = (method: string) => ({ faults: [{ kind: "hang", method }] });
const fail = (method: string, code: string) => ({ faults: [{ kind: "error", method, code, message: "m" }] });
test.each<[check: string, options: object, expected: RegExp]>([
  ["driver-name", { name: "../evil" }, /^problem: \.\.\/evil is an illegal name: it contains '\/'/],
  ["driver-node-info", { nodeId: "" }, /^problem: .*empty node ID, which kubelet refuses; fix: tell/],
  ["driver-node-info", fail("NodeGetInfo", "DEADLINE_EXCEEDED"), /^problem: .*; kubelet registers no/],
  [
    "driver-node-info",
    hang("NodeGetInfo"),
    /^unknown: \S+csi\.sock did not answer NodeGetInfo within 10 s; kubelet waits 120 s; fix: .*--timeout/,
  ],
])("%s of a driver with %j", async (check, options, expected) => {
  await node.driver(options);
  expect((await node.look({}, { impatient: "faults" in options })).says(check)).toMatch(expected);
});

test("a dead driver is one problem, with its consequences below it", async () => {
  await (await node.driver()).kill();
  await node.plugin("x.csi-reg.sock");
  const look = await node.look();
  expect(look.says("driver-socket")).toMatch(/ECONNREFUSED: no process listens.*; fix: start the driver/);
  // The errno stands there alone.
  expect(look.says("kubelet-path")).toMatch(
    / is the path that kubelet dials, but no process listens there; /,
  );
  expect(problemsIn(look)).toEqual(["CSI002", "CSI007 of CSI002", "CSI016 of CSI002"]);
  expect(look.summary.problem).toBe(1);
});

test("a hanging driver is one problem, and is not called again", async () => {
  const driver = await node.driver(hang("GetPluginInfo") as object);
  const look = await node.look({}, { impatient: true });
  const methods = driver.events.history().flatMap((event) => (event.kind === "called" ? [event.method] : []));
  expect(new Set(methods)).toEqual(new Set(["GetPluginInfo"]));
  expect(look.says("driver-identity")).toMatch(
    /^problem: .* did not answer GetPluginInfo within 1 s; .*; fix.* slow, raise --timeout/,
  );
  await node.plugin("x.csi-reg.sock", { endpoint: node.csiAddress });
  const registered = await node.look({}, { impatient: true });
  expect(problemsIn(registered)).toEqual(["CSI003", "CSI016 of CSI003"]);
  // Its registrar's path is not doubted.
  expect(registered.says("registration-endpoint")).toMatch(/within 1 s; .*; fix: see the driver's log/);
});

test("a deadline that passes while doctor is stopped is not the driver's fault", async () => {
  const driver = await node.driver();
  const stall = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, IMPATIENT_MS + 200);
  const stalled = driver.events.when("called").then(stall);
  const { says } = await node.look({}, { impatient: true });
  expect(await stalled).toBe("timed-out");
  expect(says("driver-identity")).toMatch(/^ok: /);
});

test("a doctor without CPU for each of its calls says nothing of the driver", async () => {
  const driver = await node.driver(fail("GetPluginInfo", "DEADLINE_EXCEEDED") as object);
  const { idle, active, utilization } = performance.eventLoopUtilization();
  jest.spyOn(performance, "eventLoopUtilization").mockReturnValue({ idle, active, utilization });
  let nowMs = 0;
  jest.spyOn(performance, "now").mockImplementation(() => (nowMs += IMPATIENT_MS * 2));
  const { says, healthy } = await node.look({}, { impatient: true });
  jest.restoreAllMocks();
  expect(driver.events.history().filter(({ kind }) => kind === "called")).toHaveLength(10);
  expect(says("driver-identity")).toMatch(
    /^unknown: .* this process was too busy to read an answer; fix: look/,
  );
  expect(healthy).toBe(false);
});

const FAILING = fail("NodeGetInfo", "UNAVAILABLE");

test("a driver that is found and fails NodeGetInfo: its row says so; beside one that is named it is a warning", async () => {
  await node.driverUnder("x.csi", FAILING);
  expect((await node.look(WHOLE)).drivers[0]?.reason).toMatch(
    /^the driver fails NodeGetInfo: Unavailable: .*m/,
  );
  await node.driverUnder("y.csi", { name: "y.csi", maxVolumes: -1 });
  await node.driver();
  expect((await node.look()).says("driver-node-info").split("\n").sort()).toEqual([
    expect.stringMatching(/^ok: /),
    expect.stringMatching(/^warning: the CSI driver on .*x\.csi.* fails NodeGetInfo: Unavailable/),
    expect.stringMatching(/^warning: the CSI driver on .*y\.csi.* with max_volumes_per_node -1/),
  ]);
});
