import { mkdirSync } from "node:fs";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { startStuckSocket } from "../../support/stuck-socket";
import { told } from "../../support/told";
import { createDoctorNode, problemsIn, WHOLE } from "./doctor-node";

const CONTROLLER = [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }];
const ONLY_ONE = "only one of them can be registered";

test("a driver that listens while its registrar crash-loops is a problem, without any flag", async () => {
  await using node = await createDoctorNode();
  const csiAddress = await node.driverUnder("x.csi");
  const { says, healthy, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(/has the driver x\.csi, for which there is no .*; .* answers$/);
  const withPattern = await node.look({ ...WHOLE, pattern: node.at("plugins/*/csi.sock") });
  expect(withPattern.says("drivers-found")).toMatch(
    /^problem: .* a node-wide one may have no file descriptors left, see \/statusz; .* give its --allow-drivers or --deny-drivers here$/,
  );
  expect(healthy).toBe(false);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unpublished", csiSocket: csiAddress }]);
});

test("one that is published is none, and its registrar tells since when and why", async () => {
  await using node = await createDoctorNode();
  const csiAddress = await node.driverUnder("x.csi");
  const kubelet = await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason: "no room" }] });
  const paths = { csiAddress, kubeletRegistrationPath: csiAddress };
  const registrar = await node.registrar({ ...paths, onRegistrationFailure: "retry" });
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
      waitingPods: null,
    },
  ]);
});

const NOT_THERE = /^the driver's socket is not there$/;
const DEAD = /^the driver's socket does not accept .* no process listens on this socket/;
const PATHLESS = { kubeletRegistrationPath: undefined };

test.each([
  ["with its socket removed, a whole node", WHOLE, undefined, NOT_THERE],
  ["with its socket removed, named by --csi-address", PATHLESS, undefined, NOT_THERE],
  ["with its socket removed, named with both flags", {}, undefined, NOT_THERE],
  ["killed", WHOLE, leaveDeadSocket, DEAD],
  ["killed, and named", {}, leaveDeadSocket, DEAD],
  ["hanging", WHOLE, startForeignSocket, /^the driver does not answer GetPluginInfo in time/],
])("a registered driver that ended, %s: one row, which says so", async (_, target, leave, expected) => {
  await using node = await createDoctorNode();
  const driver = await node.driver();
  const kubelet = await node.kubelet();
  await node.registrar();
  await told(kubelet, await kubelet.registered("x.csi"));
  await driver[Symbol.asyncDispose]();
  const left = await leave?.(node.csiAddress);
  const { drivers } = await node.look(target, { impatient: true });
  await left?.[Symbol.asyncDispose]();
  const reason = expect.stringMatching(expected);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "registered", reason, csiSocket: node.csiAddress }]);
});

test("each socket that fits a pattern is looked at, and two of one name are told", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("a", { name: "same.csi" });
  await node.driverUnder("b", { name: "same.csi" });
  const { says, drivers } = await node.look({ ...WHOLE, pattern: node.at("plugins/*/csi.sock") });
  const twins = /^problem: .* has a driver called same\.csi, as has .*only one of them can be registered/;
  expect(says("drivers-found").split("\n")).toEqual(Array(2).fill(expect.stringMatching(twins)));
  expect(drivers).toMatchObject(
    ["b", "a"].map((name) => ({
      state: "unpublished",
      reason: `another driver has its name: ${node.at(`plugins/${name}/csi.sock`)}`,
    })),
  );
});

test("two of one name are told where the registration of one cannot be told from that of the other", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("a", { name: "same.csi" });
  await node.driverUnder("b", { name: "same.csi" });
  await node.plugin("same.csi-reg.sock", { name: "same.csi", endpoint: "/no-such/plugins/a/csi.sock" });
  const { says, summary } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(/^problem: .*has a driver called same\.csi, as has /);
  expect(summary.problem).toBe(1);
});

test("a second driver of a name whose first is registered: where the first is", async () => {
  await using node = await createDoctorNode();
  const csiAddress = await node.driverUnder("b", { name: "same.csi" });
  // It is not under kubelet's plugins: only its registration tells of it.
  await node.driver({ name: "same.csi" });
  await node.plugin("same.csi-reg.sock", { name: "same.csi", endpoint: node.csiAddress });
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(
    `has a driver called same.csi, as has ${node.csiAddress}: ${ONLY_ONE}`,
  );
  const reason = `another driver has its name: ${node.csiAddress}`;
  expect(drivers).toMatchObject([
    { state: "untold", csiSocket: node.csiAddress },
    { state: "unpublished", reason, csiSocket: csiAddress },
  ]);
});

test("a controller with the name of the node's driver is no second one", async () => {
  await using node = await createDoctorNode();
  const csiAddress = await node.driverUnder("a", { name: "same.csi" });
  await node.driverUnder("b", { name: "same.csi", faults: CONTROLLER });
  await node.plugin("same.csi-reg.sock", { name: "same.csi", endpoint: csiAddress });
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toBe("");
  expect(drivers).toMatchObject([{ name: "same.csi", state: "untold", csiSocket: csiAddress }]);
});

test("a driver whose listen queue is full is told, named or not", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi");
  mkdirSync(node.at("plugins", "stuck"));
  const stuck = node.at("plugins", "stuck", "csi.sock");
  await using _stuck = await startStuckSocket(stuck);
  for (const target of [WHOLE, { ...WHOLE, pattern: node.at("plugins/*/csi.sock") }]) {
    const { says } = await node.look(target);
    expect(says("drivers-found")).toMatch(/stuck\/csi\.sock does not accept .*: EAGAIN: .* log: it hangs/);
    expect(says("driver-identity")).not.toMatch(/stuck/);
  }
  await node.plugin("y.csi-reg.sock", { name: "y.csi", endpoint: stuck });
  const look = await node.look({ csiSocketPath: stuck, kubeletRegistrationPath: stuck });
  expect(look.says("driver-socket")).toMatch(/does not accept .* EAGAIN: .*; fix: see the driver's log: it/);
  expect(problemsIn(look)).toEqual([
    ["CSI002", null],
    ["CSI007", "CSI002"],
    ["CSI016", "CSI002"],
  ]);
});

test("beside a driver that was named, others are worth a warning; the named one is judged once", async () => {
  await using node = await createDoctorNode();
  const csiSocketPath = await node.driverUnder("y.csi", { name: "y.csi" });
  expect((await node.look({ csiSocketPath })).says("driver-name")).toBe("ok: y.csi is a legal name");
  await node.driver();
  expect((await node.look()).says("drivers-found")).toMatch(/^warning: .*has the driver y\.csi/);
});

test("a socket that fits a pattern and that its driver left behind is worth a warning", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi");
  mkdirSync(node.at("plugins", "gone"));
  await leaveDeadSocket(node.at("plugins", "gone", "csi.sock"));
  const { says } = await node.look({ ...WHOLE, pattern: node.at("plugins/*/csi.sock") });
  expect(says("drivers-found")).toMatch(
    /^warning: .*gone\/csi\.sock has no process that listens on it: .*; fix: start the driver/m,
  );
  const whole = (await node.look(WHOLE)).says("drivers-found");
  expect(whole).toMatch(
    /^unknown: .*gone\/csi\.sock .* or was uninstalled; fix: start.*delete the directory/m,
  );
  await leaveDeadSocket(node.at("plugins", "x.csi", "other.sock"));
  expect((await node.look(WHOLE)).says("drivers-found")).toBe(whole);
});

test("a socket that the only driver left behind is a problem, also beside one of a dead registrar", async () => {
  await using node = await createDoctorNode();
  mkdirSync(node.at("plugins", "x.csi"), { recursive: true });
  await leaveDeadSocket(node.at("plugins", "x.csi", "csi.sock"));
  const ended =
    /^problem: .*x\.csi\/csi\.sock has no process that listens on it: .*; this node has no other driver/;
  expect((await node.look(WHOLE)).says("drivers-found")).toMatch(ended);
  await leaveDeadSocket(`${node.directory}/x.csi-reg.sock`);
  const { says, healthy, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(ended);
  expect(healthy).toBe(false);
  expect(drivers).toMatchObject([{ state: "dead" }]);
});

test.each([
  [{ deny: ["x.csi"] }, true, /^ok: .*has the driver x\.csi, not to be registered, as configured: /],
  [{ allow: ["y.csi"] }, true, /^ok: .*has the driver x\.csi, not to be registered, as configured: /],
  [{ deny: ["y.csi"] }, false, /^problem: /],
])("a driver that %j may keep out", async (names, isHealthy, expected) => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi");
  const { says, healthy } = await node.look({ ...WHOLE, names });
  expect(says("drivers-found")).toMatch(expected);
  expect(healthy).toBe(isHealthy);
});

test("a socket of a pattern that is no node service is named, and the driver to leave out", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const reason = "rpc error: code = Unimplemented desc = unknown service csi.v1.Node";
  await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason }] });
  await (await node.registrar({ onRegistrationFailure: "retry" })).state("refused");
  const pattern = node.csiAddress.replace("csi.sock", "*.sock");
  const { says } = await node.look({ ...WHOLE, kubeletRegistrationPath: pattern, pattern });
  const advice = `what listens on ${node.csiAddress} does not serve CSI's Node service: leave it out with --deny-drivers=x.csi`;
  expect(says("registration")).toContain(advice);
});

test("a driver with an illegal name is one problem: kubelet would refuse it because of that", async () => {
  await using node = await createDoctorNode();
  await node.driverUnder("x.csi", { name: "a_b" });
  expect(problemsIn(await node.look(WHOLE))).toEqual([
    ["CSI004", null],
    ["CSI020", "CSI004"],
  ]);
  // Another mistake is another problem.
  await node.driverUnder("y.csi", { name: "c_d", nodeId: "n".repeat(257) });
  expect(problemsIn(await node.look(WHOLE))).toContainEqual(["CSI006", null]);
});
