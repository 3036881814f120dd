import { renameSync, writeFileSync } from "node:fs";
import type { CsiDriverOptions } from "../../../src/simulator/csi-driver-options";
import { startForeignSocket } from "../../support/foreign-socket";
import { createDoctorNode, problemsIn, WHOLE } from "./doctor-node";

test("a driver that is well", async () => {
  await using node = await createDoctorNode();
  await node.driver({
    vendorVersion: "1.2",
    nodeId: "n1",
    topology: { "example.com/zone": "a" },
    maxVolumes: 12,
  });
  const { says } = await node.look();
  expect(says("driver-socket")).toMatch(
    /^ok: .*csi\.sock accepts connections \(mode 0\d{3}, owner \d+:\d+\)$/,
  );
  expect(says("driver-identity")).toBe(
    "ok: x.csi is what the CSI driver answers to GetPluginInfo, version 1.2",
  );
  expect(says("driver-name")).toBe("ok: x.csi is a legal name");
  expect(says("driver-ready")).toBe("ok: the CSI driver says that it is ready");
  expect(says("driver-node-info")).toBe(
    "ok: n1 is the node ID of x.csi; topology example.com/zone=a; at most 12 volumes",
  );
  expect(says("kubelet-path")).toMatch(/^ok: /);
});

test("no driver: its folder is there, or is not", async () => {
  await using node = await createDoctorNode();
  const { healthy, says } = await node.look();
  expect(healthy).toBe(false);
  expect(says("driver-socket")).toMatch(/^problem: .*is not there, its folder is; fix: start the driver/);
  expect(says("driver-identity")).toMatch(/^unknown: /);
  expect(says("driver-node-info")).toBe("");
  const elsewhere = await node.look({ csiSocketPath: node.at("no", "csi.sock") });
  expect(elsewhere.says("driver-socket")).toMatch(/nor is its folder; fix: mount the folder here/);
});

test("something else in the socket's place", async () => {
  await using node = await createDoctorNode();
  writeFileSync(node.csiAddress, "");
  expect((await node.look()).says("driver-socket")).toMatch(/^problem: .*csi\.sock is a file, not a socket/);
  const { says } = await node.look({ csiSocketPath: node.directory });
  expect(says("driver-socket")).toMatch(/reg is a folder, not a socket/);
});

test("a path that is too long for a socket is not connected to, as it would be cut", async () => {
  await using node = await createDoctorNode();
  const cut = node.at("s".repeat(106 - node.at("").length));
  let connected = false;
  await using _there = await startForeignSocket(node.at("short"), () => {
    connected = true;
  });
  renameSync(node.at("short"), cut);
  const tooLong = `${cut}.sock`;
  const { says } = await node.look({ csiSocketPath: tooLong, kubeletRegistrationPath: tooLong });
  expect(says("driver-socket")).toMatch(/^problem: .*has 112 bytes, a unix socket path may have 107; fix: /);
  expect(says("kubelet-path")).toMatch(/^problem: .*has 112 bytes/);
  expect(connected).toBe(false);
});

test("something that is no CSI driver", async () => {
  await using node = await createDoctorNode();
  const plugin = await node.plugin("y-reg.sock", { name: "y" });
  const { says } = await node.look({ csiSocketPath: `${node.directory}/y-reg.sock` });
  expect(says("driver-identity")).toMatch(
    /^problem: .*fails GetPluginInfo: Unimplemented: .*; fix: correct --csi-address/,
  );
  await plugin.close();
});

test("a driver that hangs is asked no further", async () => {
  await using node = await createDoctorNode();
  const driver = await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await node.look({}, { impatient: true });
  expect(driver.events.history().filter(({ kind }) => kind === "called")).toHaveLength(1);
});

const hang = (method: string) => ({ faults: [{ kind: "hang", method }] });
const fail = (method: string, code: string) => ({
  faults: [{ kind: "error", method, code, message: "no m" }],
});

test.each([
  [
    "driver-identity",
    hang("GetPluginInfo"),
    /^problem: the CSI driver does not answer GetPluginInfo in time; fix: /,
  ],
  [
    "driver-name",
    { name: "my_driver" },
    /^problem: my_driver is an illegal name: the CSI specification allows/,
  ],
  ["driver-name", { name: "x".repeat(64) }, /it has 64 characters/],
  ["driver-name", { name: "../evil" }, /^problem: \.\.\/evil cannot be registered: it contains '\/'/],
  ["driver-name", { name: "" }, /^problem: {2}cannot be registered: it is empty/],
  [
    "driver-ready",
    fail("Probe", "FAILED_PRECONDITION"),
    /^warning: .*fails Probe: FailedPrecondition: .*no m/,
  ],
  [
    "driver-node-info",
    { nodeId: "" },
    /^problem: .*empty node ID, which kubelet refuses; fix: tell the driver its/,
  ],
  ["driver-node-info", { nodeId: "n".repeat(300) }, /^problem: .*the API server refuses: .*nodeID/],
  ["driver-node-info", { topology: { "not a key": "a" } }, /^problem: .*the API server refuses: .*not a key/],
  [
    "driver-node-info",
    fail("NodeGetInfo", "UNAVAILABLE"),
    /^problem: .*fails NodeGetInfo: Unavailable: .*no m; kubelet refuses the driver; fix: see/,
  ],
  [
    "driver-node-info",
    fail("NodeGetInfo", "UNIMPLEMENTED"),
    /; fix: name the socket of the driver's node plugin, not the controller's$/,
  ],
  [
    "driver-node-info",
    hang("NodeGetInfo"),
    /^problem: .*does not answer NodeGetInfo in time; kubelet waits 2 minutes/,
  ],
])("%s of a driver with %j", async (check, options, expected) => {
  await using node = await createDoctorNode();
  await node.driver(options as Partial<CsiDriverOptions>);
  const { says } = await node.look({}, { impatient: "faults" in options });
  expect(says(check)).toMatch(expected);
});

test("a driver that is not ready", async () => {
  await using node = await createDoctorNode();
  await node.driver({ faults: [{ kind: "not-ready" }] });
  const { says, healthy, summary } = await node.look();
  expect(says("driver-ready")).toMatch(
    /^warning: the CSI driver says in Probe that it is not ready; fix: wait/,
  );
  expect([summary.warning, healthy]).toEqual([1, false]);
});

test("a dead driver is one problem, whatever else fails because of it", async () => {
  await using node = await createDoctorNode();
  await (await node.driver()).kill();
  await node.plugin("x.csi-reg.sock", {});
  const look = await node.look();
  expect(look.says("driver-socket")).toMatch(
    /^problem: .*ECONNREFUSED: nobody listens.*; fix: start the driver, or see why/,
  );
  expect(problemsIn(look)).toEqual([
    ["CSI002", null],
    ["CSI007", "CSI002"],
    ["CSI016", "CSI002"],
  ]);
  expect(look.summary.problem).toBe(1);
});

test("a driver that hangs is one problem, too: its registrar's path is not doubted", async () => {
  await using node = await createDoctorNode();
  await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await node.plugin("x.csi-reg.sock", { endpoint: node.csiAddress });
  const look = await node.look({}, { impatient: true });
  expect(problemsIn(look)).toEqual([
    ["CSI003", null],
    ["CSI016", "CSI003"],
  ]);
  expect(look.says("registration-endpoint")).toMatch(
    /answers no GetPluginInfo in time; fix: see the driver's log/,
  );
});

test.each(["no/csi.sock", "none.sock", ""])(
  "without a socket at --csi-address, %j, no path is judged by it",
  async (name) => {
    await using node = await createDoctorNode();
    const csiSocketPath = node.at(name);
    for (const kubeletRegistrationPath of [csiSocketPath, "/var/lib/kubelet/plugins/x.csi/csi.sock"]) {
      const { says } = await node.look({ csiSocketPath, kubeletRegistrationPath });
      expect(says("driver-socket")).toMatch(/^problem: /);
      expect(says("kubelet-path")).toMatch(/^unknown: .* is the path that kubelet gets; /);
    }
  },
);

test.each([
  [
    "driver-identity",
    ["CSI003"],
    hang("GetPluginInfo"),
    /^problem: the CSI driver on .*plugins\/x\.csi\/csi\.sock does not answer GetPluginInfo in time; fix: /,
  ],
  [
    "driver-name",
    ["CSI004", "CSI006"],
    { name: "../evil" },
    /^problem: .* cannot be registered: it contains '\/'/,
  ],
  [
    "driver-ready",
    ["CSI020"],
    { faults: [{ kind: "not-ready" }] },
    /^warning: the CSI driver on .*csi\.sock says in Probe that it is not ready/,
  ],
])("%s of a driver that is found, as of one that is named, once", async (check, codes, options, expected) => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi", options);
  const look = await node.look(WHOLE, { impatient: true });
  expect(look.says(check)).toMatch(expected);
  expect(problemsIn(look).map(([code]) => code)).toEqual(codes);
});

test("a driver that is found, whose NodeGetInfo fails: that is the cause, and its registrar's absence follows", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi", fail("NodeGetInfo", "UNAVAILABLE"));
  const look = await node.look(WHOLE);
  expect(problemsIn(look)).toEqual([
    ["CSI006", null],
    ["CSI020", "CSI006"],
  ]);
  expect(look.drivers[0]?.reason).toMatch(/^fails NodeGetInfo: Unavailable: .*no m/);
  // Beside a driver that is named it is worth a warning.
  await node.driver();
  expect((await node.look()).says("driver-node-info").split("\n")).toEqual([
    expect.stringMatching(/^ok: /),
    expect.stringMatching(/^warning: the CSI driver on .*fails NodeGetInfo: Unavailable/),
  ]);
});
