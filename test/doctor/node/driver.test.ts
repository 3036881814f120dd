import { renameSync, writeFileSync } from "node:fs";
import { startForeignSocket } from "../../support/foreign-socket";
import { createDoctorNode, WHOLE, withDriver } from "./doctor-node";

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

test("a socket that a driver left behind", async () => {
  await using node = await createDoctorNode();
  await (await node.driver()).kill();
  const { says } = await node.look();
  expect(says("driver-socket")).toMatch(
    /^problem: .*ECONNREFUSED: nobody listens.*; fix: start the driver, or see why/,
  );
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

test("a driver that hangs, and is asked no further", async () => {
  await using node = await createDoctorNode();
  const driver = await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  const { says } = await node.look({}, { impatient: true });
  expect(says("driver-identity")).toMatch(
    /^problem: the CSI driver does not answer GetPluginInfo in time; fix: /,
  );
  expect(driver.events.history().filter(({ kind }) => kind === "called")).toHaveLength(1);
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

test.each([
  ["my_driver", "problem: my_driver is an illegal name: the CSI specification allows"],
  ["x".repeat(64), "it has 64 characters"],
  ["../evil", "problem: ../evil cannot be registered: it contains '/'"],
  ["", "problem:  cannot be registered: it is empty"],
])("the name %j", async (name, expected) => {
  await using node = await createDoctorNode();
  await node.driver({ name });
  const { says } = await node.look();
  expect(says("driver-name")).toContain(expected);
});

test("a driver that is not ready, or cannot tell", async () => {
  await using node = await createDoctorNode();
  const driver = await node.driver({ faults: [{ kind: "not-ready" }] });
  const { says, healthy, summary } = await node.look();
  expect(says("driver-ready")).toMatch(
    /^warning: the CSI driver says in Probe that it is not ready; fix: wait/,
  );
  expect([summary.warning, healthy]).toEqual([1, false]);
  driver.setFaults([{ kind: "error", method: "Probe", code: "FAILED_PRECONDITION", message: "no disk" }]);
  expect((await node.look()).says("driver-ready")).toMatch(/fails Probe: FailedPrecondition: .*no disk/);
});

test.each([
  [{ nodeId: "" }, /^problem: .*empty node ID, which kubelet refuses; fix: tell the driver its node's name/],
  [{ nodeId: "n".repeat(300) }, /^problem: .*the API server refuses: .*nodeID/],
  [{ topology: { "not a key": "a" } }, /^problem: .*the API server refuses: .*not a key/],
  [
    { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNAVAILABLE", message: "no metadata" }] },
    /^problem: .*fails NodeGetInfo: Unavailable: .*no metadata; kubelet refuses the driver; fix: see/,
  ],
  [
    { faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }] },
    /; fix: name the socket of the driver's node plugin, not the controller's$/,
  ],
] as const)("node information %j", async (options, expected) => {
  await using node = await createDoctorNode();
  await node.driver(options);
  expect((await node.look()).says("driver-node-info")).toMatch(expected);
});

test("node information that does not come", async () => {
  await using node = await createDoctorNode();
  await node.driver({ faults: [{ kind: "hang", method: "NodeGetInfo" }] });
  const { says } = await node.look({}, { impatient: true });
  expect(says("driver-node-info")).toMatch(
    /^problem: .*does not answer NodeGetInfo in time; kubelet waits 2 minutes/,
  );
});

test("a dead driver is one problem, whatever else fails for it", async () => {
  await using node = await createDoctorNode();
  await (await node.driver()).kill();
  await node.plugin("x.csi-reg.sock", {});
  const { findings, summary } = await node.look();
  const problems = findings.filter(({ status }) => status === "problem");
  expect(problems.map(({ code, follows }) => [code, follows])).toEqual([
    ["CSI002", null],
    ["CSI007", "CSI002"],
    ["CSI016", "CSI002"],
  ]);
  expect(summary.problem).toBe(1);
});

test("a driver that hangs is one problem, too: its registrar's path is not doubted for it", async () => {
  await using node = await createDoctorNode();
  await node.driver({ faults: [{ kind: "hang", method: "GetPluginInfo" }] });
  await node.plugin("x.csi-reg.sock", { endpoint: node.csiAddress });
  const { findings, says, summary } = await node.look({}, { impatient: true });
  const problems = findings.filter(({ status }) => status === "problem");
  expect(problems.map(({ code, follows }) => [code, follows])).toEqual([
    ["CSI003", null],
    ["CSI016", "CSI003"],
  ]);
  expect(says("registration-endpoint")).toMatch(
    /answers no GetPluginInfo in time; fix: see the driver's log/,
  );
  expect(summary.problem).toBe(1);
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
    "hangs",
    "driver-identity",
    ["CSI003"],
    { faults: [{ kind: "hang", method: "GetPluginInfo" }] },
    /^problem: the CSI driver on .*plugins\/x\.csi\/csi\.sock does not answer GetPluginInfo in time; fix: /,
  ],
  [
    "has an unsafe name",
    "driver-name",
    ["CSI004", "CSI006"],
    { name: "../evil" },
    /^problem: .* cannot be registered: it contains '\/'/,
  ],
  [
    "is not ready",
    "driver-ready",
    ["CSI020"],
    { faults: [{ kind: "not-ready" }] },
    /^warning: the CSI driver on .*csi\.sock says in Probe that it is not ready/,
  ],
])(
  "a driver that is found and %s is judged as one that is named, once",
  async (_, check, codes, options, expected) => {
    const { node } = await withDriver("x.csi", options);
    await using _node = node;
    const { says, findings } = await node.look(WHOLE, { impatient: true });
    expect(says(check)).toMatch(expected);
    const bad = findings.filter(({ status }) => status === "problem");
    expect(bad.map(({ code }) => code)).toEqual(codes);
  },
);

test("a driver that is found, whose NodeGetInfo fails: that is the cause, and its registrar's absence follows", async () => {
  const { node } = await withDriver("x.csi", {
    faults: [{ kind: "error", method: "NodeGetInfo", code: "UNAVAILABLE", message: "no metadata" }],
  });
  await using _node = node;
  const { findings, drivers, says } = await node.look(WHOLE);
  expect(
    findings.flatMap(({ code, status, follows }) => (status === "problem" ? [[code, follows]] : [])),
  ).toEqual([
    ["CSI006", null],
    ["CSI020", "CSI006"],
  ]);
  expect(says("driver-node-info")).toMatch(
    /^problem: the CSI driver on .*csi\.sock fails NodeGetInfo: Unavailable: .*no metadata; kubelet refuses/,
  );
  expect(drivers[0]?.reason).toMatch(/^fails NodeGetInfo: Unavailable: .*no metadata/);
  // Beside a driver that is named it is worth a warning.
  await node.driver();
  expect((await node.look()).says("driver-node-info").split("\n")).toEqual([
    expect.stringMatching(/^ok: /),
    expect.stringMatching(/^warning: the CSI driver on .*fails NodeGetInfo/),
  ]);
});
