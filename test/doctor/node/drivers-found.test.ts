import { mkdirSync } from "node:fs";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { startStuckSocket } from "../../support/stuck-socket";
import { createDoctorNode, WHOLE, withDriver } from "./doctor-node";

test("a driver that listens while its registrar crash-loops is a problem, without any flag", async () => {
  const { node, csiAddress } = await withDriver("x.csi");
  await using _node = node;
  const { says, healthy, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(
    /^problem: .*csi\.sock has the driver x\.csi, for which there is no registration socket in .*; fix: see its registrar.*; is it denied\? give --deny-drivers$/,
  );
  expect(healthy).toBe(false);
  expect(drivers).toEqual([
    expect.objectContaining({ name: "x.csi", state: "unpublished", csiSocket: csiAddress }),
  ]);
});

test("one that is published is none, and its registrar tells since when and why", async () => {
  const { node, csiAddress } = await withDriver("x.csi");
  await using _node = node;
  const kubelet = await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason: "no room" }] });
  const registrar = await node.registrar({
    csiAddress,
    kubeletRegistrationPath: csiAddress,
    onRegistrationFailure: "retry",
  });
  await kubelet.refused("x.csi");
  await registrar.state("refused");
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toBe("");
  expect(drivers).toEqual([
    {
      name: "x.csi",
      state: "refused",
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      reason: expect.stringMatching(/^kubelet refused: .*no room/),
      csiSocket: csiAddress,
      registrationSocket: `${node.directory}/x.csi-reg.sock`,
    },
  ]);
});

test("a controller's socket is not to be registered", async () => {
  const { node } = await withDriver("x.csi", {
    faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }],
  });
  await using _node = node;
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toBe("");
  expect(drivers).toEqual([]);
});

test("each socket that fits a pattern is looked at, and two of one name are told", async () => {
  const { node } = await withDriver("a", { name: "same.csi" });
  await using _node = node;
  mkdirSync(node.at("plugins", "b"));
  await node.driver({ csiAddress: node.at("plugins", "b", "csi.sock"), name: "same.csi" });
  const patterns = [node.at("plugins", "*", "csi.sock")];
  const { says, drivers } = await node.look({ ...WHOLE, patterns });
  expect(says("drivers-found").split("\n")).toHaveLength(2);
  expect(drivers.map(({ state, reason }) => `${state}: ${reason}`)).toEqual([
    `unpublished: another driver has its name: ${node.at("plugins", "b", "csi.sock")}; only one of them can be registered`,
    `unpublished: another driver has its name: ${node.at("plugins", "a", "csi.sock")}; only one of them can be registered`,
  ]);
  expect(says("drivers-found")).toMatch(
    /has a driver called same\.csi, as has .*only one of them can be registered/,
  );
});

test("two of one name are told where the registration of one cannot be told from that of the other", async () => {
  const { node } = await withDriver("a", { name: "same.csi" });
  await using _node = node;
  mkdirSync(node.at("plugins", "b"));
  await node.driver({ csiAddress: node.at("plugins", "b", "csi.sock"), name: "same.csi" });
  await node.plugin("same.csi-reg.sock", {
    name: "same.csi",
    endpoint: "/var/lib/no-such-kubelet/plugins/a/csi.sock",
  });
  const { says, summary } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(/^problem: .*has a driver called same\.csi, as has /);
  expect(summary.problem).toBe(1);
});

test("a second driver of a name whose first is registered: where the first is", async () => {
  const { node, csiAddress } = await withDriver("b", { name: "same.csi" });
  await using _node = node;
  // It is not under kubelet's plugins: only its registration tells of it.
  await node.driver({ name: "same.csi" });
  await node.plugin("same.csi-reg.sock", { name: "same.csi", endpoint: node.csiAddress });
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(
    `has a driver called same.csi, as has ${node.csiAddress}: only one of them can be registered`,
  );
  expect(drivers).toMatchObject([
    { state: "untold", csiSocket: node.csiAddress },
    {
      state: "unpublished",
      reason: `another driver has its name: ${node.csiAddress}; only one of them can be registered`,
      csiSocket: csiAddress,
    },
  ]);
});

test("a controller with the name of the node's driver is no second one", async () => {
  const { node, csiAddress } = await withDriver("a", { name: "same.csi" });
  await using _node = node;
  mkdirSync(node.at("plugins", "b"));
  await node.driver({
    csiAddress: node.at("plugins", "b", "csi.sock"),
    name: "same.csi",
    faults: [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }],
  });
  await node.plugin("same.csi-reg.sock", { name: "same.csi", endpoint: csiAddress });
  expect((await node.look(WHOLE)).says("drivers-found")).toBe("");
});

test("a driver whose listen queue is full is told, named or not", async () => {
  const { node } = await withDriver("x.csi");
  await using _node = node;
  mkdirSync(node.at("plugins", "stuck"));
  const stuck = node.at("plugins", "stuck", "csi.sock");
  await using _stuck = await startStuckSocket(stuck);
  const full =
    /stuck\/csi\.sock does not accept a connection .*: EAGAIN: .*; fix: see the driver's log: it hangs/;
  const patterns = [node.at("plugins", "*", "csi.sock")];
  expect((await node.look(WHOLE)).says("drivers-found")).toMatch(full);
  expect((await node.look({ ...WHOLE, patterns })).says("drivers-found")).toMatch(full);
  await node.plugin("y.csi-reg.sock", { name: "y.csi", endpoint: stuck });
  const { says, findings } = await node.look({ csiSocketPath: stuck, kubeletRegistrationPath: stuck });
  expect(says("driver-socket")).toMatch(/does not accept .* EAGAIN: .*; fix: see the driver's log: it hangs/);
  expect(
    findings.filter(({ status }) => status === "problem").map(({ code, follows }) => [code, follows]),
  ).toEqual([
    ["CSI002", null],
    ["CSI007", "CSI002"],
    ["CSI016", "CSI002"],
  ]);
});

test("beside a driver that was named, others are worth a warning", async () => {
  const { node } = await withDriver("y.csi", { name: "y.csi" });
  await using _node = node;
  await node.driver();
  expect((await node.look()).says("drivers-found")).toMatch(/^warning: .*has the driver y\.csi/);
});

test("a socket that fits a pattern and that its driver left behind is worth a warning", async () => {
  const { node } = await withDriver("x.csi");
  await using _node = node;
  mkdirSync(node.at("plugins", "gone"));
  await leaveDeadSocket(node.at("plugins", "gone", "csi.sock"));
  const dead =
    /^warning: .*gone\/csi\.sock fits the pattern, and no process listens on it; fix: start the driver/m;
  const patterns = [node.at("plugins", "*", "csi.sock")];
  expect((await node.look({ ...WHOLE, patterns })).says("drivers-found")).toMatch(dead);
  expect((await node.look(WHOLE)).says("drivers-found")).not.toMatch(/^warning/m);
});

test.each([{ deny: ["x.csi"] }, { allow: ["y.csi"] }])(
  "a driver that %j keeps out is as configured",
  async (names) => {
    const { node } = await withDriver("x.csi");
    await using _node = node;
    const { says, healthy } = await node.look({ ...WHOLE, names });
    expect(says("drivers-found")).toMatch(
      /^ok: .*has the driver x\.csi, not to be registered, as configured: /,
    );
    expect(healthy).toBe(true);
    expect((await node.look({ ...WHOLE, names: { deny: ["y.csi"] } })).says("drivers-found")).toMatch(
      /^problem: /,
    );
  },
);

test("a socket of a pattern that is no node service is named, and the driver to leave out", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const reason = "rpc error: code = Unimplemented desc = unknown service csi.v1.Node";
  await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason }] });
  await (await node.registrar({ onRegistrationFailure: "retry" })).state("refused");
  const pattern = node.csiAddress.replace("csi.sock", "*.sock");
  const { says } = await node.look({
    csiSocketPath: undefined,
    kubeletRegistrationPath: pattern,
    patterns: [pattern],
  });
  expect(says("registration")).toContain(
    `what listens on ${node.csiAddress} is no CSI node service: leave it out with --deny-drivers=x.csi`,
  );
});
