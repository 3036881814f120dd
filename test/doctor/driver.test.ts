import { renameSync, writeFileSync } from "node:fs";
import { startForeignSocket } from "../support/foreign-socket";
import { openWard } from "./ward";

test("a driver that is well", async () => {
  await using ward = await openWard();
  await ward.driver({
    vendorVersion: "1.2",
    nodeId: "n1",
    topology: { "example.com/zone": "a" },
    maxVolumes: 12,
  });
  const { says } = await ward.visit();
  expect(says("driver-socket")).toMatch(
    /^ok: .*csi\.sock accepts connections \(mode 0\d{3}, owner \d+:\d+\)$/,
  );
  expect(says("driver-identity")).toBe("ok: x.csi is what GetPluginInfo answers, version 1.2");
  expect(says("driver-name")).toBe("ok: x.csi is a legal name");
  expect(says("driver-ready")).toBe("ok: the CSI driver says that it is ready");
  expect(says("driver-node-info")).toBe(
    "ok: n1 is its node ID; topology example.com/zone=a; at most 12 volumes",
  );
  expect(says("kubelet-path")).toMatch(/^ok: /);
});

test("no driver: its folder is there, or is not", async () => {
  await using ward = await openWard();
  const { healthy, says } = await ward.visit();
  expect(healthy).toBe(false);
  expect(says("driver-socket")).toMatch(
    /^problem: .*is not there, its folder is; cure: see whether the driver runs/,
  );
  expect(says("driver-identity")).toMatch(/^unknown: /);
  expect(says("driver-node-info")).toBe("");
  const elsewhere = await ward.visit({ csiSocketPath: ward.at("no", "csi.sock") });
  expect(elsewhere.says("driver-socket")).toMatch(/nor is its folder; cure: mount the folder here/);
});

test("a socket that a driver left behind", async () => {
  await using ward = await openWard();
  await (await ward.driver()).kill();
  const { says } = await ward.visit();
  expect(says("driver-socket")).toMatch(
    /^problem: .*ECONNREFUSED: nobody listens.*; cure: restart the driver$/,
  );
});

test("something else in the socket's place", async () => {
  await using ward = await openWard();
  writeFileSync(ward.csiAddress, "");
  expect((await ward.visit()).says("driver-socket")).toMatch(/^problem: .*csi\.sock is a file, not a socket/);
  const { says } = await ward.visit({ csiSocketPath: ward.directory });
  expect(says("driver-socket")).toMatch(/reg is a folder, not a socket/);
});

test("a path that is too long for a socket is not connected to, as it would be cut", async () => {
  await using ward = await openWard();
  const cut = ward.at("s".repeat(106 - ward.at("").length));
  let connected = false;
  await using _there = await startForeignSocket(ward.at("short"), () => {
    connected = true;
  });
  renameSync(ward.at("short"), cut);
  const tooLong = `${cut}.sock`;
  const { says } = await ward.visit({ csiSocketPath: tooLong, kubeletRegistrationPath: tooLong });
  expect(says("driver-socket")).toMatch(/^problem: .*has 112 bytes, a unix socket path may have 107; cure: /);
  expect(says("kubelet-path")).toMatch(/^problem: .*has 112 bytes/);
  expect(connected).toBe(false);
});

test("a driver that hangs, and is asked no further", async () => {
  await using ward = await openWard();
  const driver = await ward.driver({ faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  const { says } = await ward.visit({}, { impatient: true });
  expect(says("driver-identity")).toMatch(
    /^problem: the CSI driver does not answer GetPluginInfo in time; cure: /,
  );
  expect(driver.events.history().filter(({ kind }) => kind === "called")).toHaveLength(1);
});

test("something that is no CSI driver", async () => {
  await using ward = await openWard();
  const plugin = await ward.plugin("y-reg.sock", { name: "y" });
  const { says } = await ward.visit({ csiSocketPath: `${ward.directory}/y-reg.sock` });
  expect(says("driver-identity")).toMatch(
    /^problem: .*fails GetPluginInfo: Unimplemented: .*; cure: correct --csi-address/,
  );
  await plugin.close();
});

test.each([
  ["my_driver", "problem: my_driver is no legal name: the CSI specification allows"],
  ["x".repeat(64), "it has 64 characters"],
  ["../evil", "problem: ../evil cannot be registered: it contains '/'"],
  ["", "problem:  cannot be registered: it is empty"],
])("the name %j", async (name, expected) => {
  await using ward = await openWard();
  await ward.driver({ name });
  const { says } = await ward.visit();
  expect(says("driver-name")).toContain(expected);
});

test("a driver that is not ready, or cannot tell", async () => {
  await using ward = await openWard();
  const driver = await ward.driver({ faults: [{ kind: "not-ready" }] });
  const { says, healthy, summary } = await ward.visit();
  expect(says("driver-ready")).toMatch(
    /^warning: the CSI driver says in Probe that it is not ready; cure: wait/,
  );
  expect([summary.warning, healthy]).toEqual([1, false]);
  driver.setFaults([{ kind: "error", method: "Probe", code: "FAILED_PRECONDITION", message: "no disk" }]);
  expect((await ward.visit()).says("driver-ready")).toMatch(/fails Probe: FailedPrecondition: .*no disk/);
});

test.each([
  [{ nodeId: "" }, /^problem: .*empty node ID, which kubelet refuses; cure: tell the driver its node's name/],
  [{ nodeId: "n".repeat(300) }, /^problem: .*the API server refuses: .*nodeID/],
  [{ topology: { "not a key": "a" } }, /^problem: .*the API server refuses: .*not a key/],
  [
    { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNAVAILABLE", message: "no metadata" }] },
    /^problem: .*fails NodeGetInfo, and kubelet refuses it: Unavailable: .*no metadata; cure: see/,
  ],
  [
    { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }] },
    /; cure: name the socket of the driver's node plugin, not the controller's$/,
  ],
] as const)("node information %j", async (options, expected) => {
  await using ward = await openWard();
  await ward.driver(options);
  expect((await ward.visit()).says("driver-node-info")).toMatch(expected);
});

test("node information that does not come", async () => {
  await using ward = await openWard();
  await ward.driver({ faults: [{ kind: "hang", method: "NodeGetInfo" }] });
  const { says } = await ward.visit({}, { impatient: true });
  expect(says("driver-node-info")).toMatch(
    /^problem: .*does not answer NodeGetInfo in time; kubelet waits 2 minutes/,
  );
});
