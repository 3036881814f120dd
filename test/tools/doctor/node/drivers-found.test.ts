import fs, { mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import { parseNameLists } from "../../../../src/registrar/node-wide/name-lists";
import { eachTest } from "../../../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { startStuckSocket } from "../../../support/stuck-socket";
import { untilNotified } from "../../../support/until-notified";
import { createDoctorNode, problemsIn, WHOLE } from "./doctor-node";

const node = eachTest(createDoctorNode);

const CONTROLLER = [{ kind: "error", method: "NodeGetInfo", code: "UNIMPLEMENTED" }];

test("a driver that listens while its registrar crash-loops is a problem, without any flag", async () => {
  const csiAddress = await node.driverUnder("x.csi");
  const { says, healthy, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(/has the driver x\.csi, for which there is no .*; .* answers$/);
  const withPattern = await node.look({ ...WHOLE, pattern: node.at("plugins/*/csi.sock") });
  expect(withPattern.says("driver-socket")).toMatch(/^ok: .*csi\.sock is a pattern/);
  expect(withPattern.says("drivers-found")).toMatch(
    /^problem: .* a node-wide registrar may wait, as for file descriptors .* see its \/readyz or log; .* give its --allow-drivers or --deny-drivers here$/,
  );
  expect(healthy).toBe(false);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unpublished", csiSocket: csiAddress }]);
});

test("a driver's directory behind an unreadable link is named, and so are directories beyond the limit", async () => {
  mkdirSync(node.at("plugins"));
  fs.symlinkSync("loop", node.at("plugins", "loop"));
  const pattern = node.at("plugins", "*", "csi.sock");
  const said = async () => (await node.look({ ...WHOLE, pattern })).says("drivers-found");
  expect(await said()).toMatch(/^unknown: \S+\/plugins cannot be inspected, .*ELOOP/);
  fs.rmSync(node.at("plugins", "loop"));
  fs.symlinkSync("/gone", node.at("away"));
  const beside = await node.look({ ...WHOLE, pattern: node.at("*", "csi.sock") });
  expect(beside.says("drivers-found")).toMatch(
    /^unknown: \S+away is a symbolic link to \/gone, which cannot/,
  );
  await leaveDeadSocket(node.at("dead"));
  for (let at = 0; at <= 500; at++) {
    mkdirSync(node.at("plugins", `${at}`));
    fs.symlinkSync(node.at("dead"), node.at("plugins", `${at}`, "csi.sock"));
  }
  expect(await said()).toMatch(/^unknown: \S+csi\.sock has 501 sockets, of which 500 were inspected/m);
});

test("a published driver is not a finding, and its row has its registrar's state and reason", async () => {
  const csiAddress = await node.driverUnder("x.csi");
  const kubelet = await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", error: "no room" }] });
  const paths = { csiAddress, endpoint: csiAddress };
  const registrar = await node.registrar({ ...paths, onRegistrationFailure: "retry" });
  await kubelet.refused("x.csi");
  await registrar.state("refused");
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toBe("");
  const since = expect.stringMatching(/^\d{4}-.*Z$/);
  const reason = expect.stringMatching(/^kubelet refused: .*no room/);
  const sockets = { csiSocket: csiAddress, registrationSocket: expect.stringMatching(/\/\.out-\w{5}$/) };
  expect(drivers).toEqual([{ name: "x.csi", state: "refused", since, reason, ...sockets }]);
});

const NOT_THERE = /^x\.csi is said to be at \S+, which is not there$/;
const DEAD = /^x\.csi is said to be at \S+, which does not accept .* no process listens on this socket/;
const PATHLESS = { kubeletRegistrationPath: undefined };

test.each([
  ["with its socket removed, a whole node", WHOLE, undefined, NOT_THERE],
  ["with its socket removed, named by --csi-address", PATHLESS, undefined, NOT_THERE],
  ["with its socket removed, named with both flags", {}, undefined, NOT_THERE],
  ["killed", WHOLE, leaveDeadSocket, DEAD],
  ["killed, and named", {}, leaveDeadSocket, DEAD],
  ["hanging", WHOLE, startForeignSocket, /^x\.csi .* did not answer GetPluginInfo within 1 s/],
])("a registered driver that ended, %s: one row, which says so", async (_, target, leave, expected) => {
  const driver = await node.driver();
  const kubelet = await node.kubelet();
  await node.registrar();
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  await driver[Symbol.asyncDispose]();
  const left = await leave?.(node.csiAddress);
  const { drivers } = await node.look(target, { impatient: true });
  await left?.[Symbol.asyncDispose]();
  const reason = expect.stringMatching(expected);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "registered", reason, csiSocket: node.csiAddress }]);
});

const SAME = { name: "same.csi" };

test("two drivers of one name are reported, also where one registration may be either's", async () => {
  for (const name of ["a", "b"]) await node.driverUnder(name, SAME);
  const { says, drivers } = await node.look({ ...WHOLE, pattern: node.at("plugins/*/csi.sock") });
  const twins = /^problem: .* has a driver called same\.csi, as has .*only one of them can be registered/;
  expect(says("drivers-found").split("\n")).toEqual(Array(2).fill(expect.stringMatching(twins)));
  const reasonOf = (name: string) => `another driver has its name: ${node.at(`plugins/${name}/csi.sock`)}`;
  expect(drivers.map(({ state, reason }) => [state, reason])).toEqual(
    ["b", "a"].map((name) => ["unpublished", reasonOf(name)]),
  );
  const unseen = await node.plugin("same.csi-reg.sock", { ...SAME, endpoint: "/no-such/plugins/a/csi.sock" });
  const published = await node.look(WHOLE);
  expect(published.says("drivers-found")).toMatch(twins);
  expect(published.summary.problem).toBe(1);
  await unseen.close();
  await node.plugin("same.csi-reg.sock", { ...SAME, endpoint: node.at("plugins/b/csi.sock") });
  expect((await node.look(WHOLE)).says("drivers-found")).toMatch(
    /^problem: .*\/a\/csi\.sock has a driver .*$/,
  );
});

test("a second driver of a name whose first is registered: where the first is", async () => {
  const csiAddress = await node.driverUnder("b", SAME);
  // It is not under kubelet's plugins: only its registration tells of it.
  await node.driver(SAME);
  await node.plugin("same.csi-reg.sock", { ...SAME, endpoint: node.csiAddress });
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toContain(
    `has a driver called same.csi, as has ${node.csiAddress}: only one`,
  );
  const reason = `another driver has its name: ${node.csiAddress}`;
  expect(drivers).toMatchObject([
    { state: "unreported", csiSocket: node.csiAddress },
    { state: "unpublished", reason, csiSocket: csiAddress },
  ]);
});

test.each([
  ["hanging", ["a"], ["hanging a"]],
  ["hanging", ["a", "b"], ["hanging ?", "unknown a", "unknown b"]],
  ["dead", ["a", "b"], ["dead ?", "unknown a", "unknown b"]],
  ["hanging", ["a", "silent"], ["hanging ?", "unknown a", "unpublished silent"]],
  ["hanging", ["silent"], ["unknown ?", "unpublished silent"]],
])(
  "a registration that is %s, with the drivers %j: none is taken for its own by a guess",
  async (state, names, rows) => {
    const path = `${node.directory}/same.csi-reg.sock`;
    await using registrar = await startForeignSocket(path);
    if (state === "dead") await registrar.kill();
    mkdirSync(node.at("plugins", "silent"), { recursive: true });
    const silent = node.at("plugins/silent/csi.sock");
    await using _silent = names.includes("silent") ? await startForeignSocket(silent) : undefined;
    for (const name of names) if (name !== "silent") await node.driverUnder(name, SAME);
    const { drivers } = await node.look(WHOLE, { impatient: true });
    const nameOf = (csiSocket: string | null) => csiSocket?.split("/").at(-2) ?? "?";
    expect(drivers.map((row) => `${row.state} ${nameOf(row.csiSocket)}`).sort()).toEqual(rows);
  },
);

test("a controller with the driver's name is not a second driver", async () => {
  const csiAddress = await node.driverUnder("a", SAME);
  await node.driverUnder("b", { ...SAME, faults: CONTROLLER });
  expect((await node.look(WHOLE)).says("drivers-found")).toMatch(
    /has the driver same\.csi, for which there is no/,
  );
  await node.plugin("same.csi-reg.sock", { ...SAME, endpoint: csiAddress });
  const { says, drivers } = await node.look(WHOLE);
  expect(says("drivers-found")).toBe("");
  expect(drivers).toMatchObject([{ ...SAME, state: "unreported", csiSocket: csiAddress }]);
});

test("a driver whose listen queue is full is reported, with and without --csi-address", async () => {
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
  expect(problemsIn(look)).toEqual(["CSI002", "CSI007 of CSI002", "CSI016 of CSI002"]);
});

test("beside a named driver others are warnings, and the named one is judged once", async () => {
  const csiSocketPath = await node.driverUnder("y.csi", { name: "y.csi" });
  const { says } = await node.look({ csiSocketPath });
  expect([says("driver-name"), says("drivers-found")]).toEqual(["ok: y.csi is a legal name", ""]);
  await node.driver();
  expect((await node.look()).says("drivers-found")).toMatch(/^warning: .*has the driver y\.csi/);
});

const LEFT =
  /^(\w+): .*\/csi\.sock has no process that listens on it: .* or was uninstalled(.*); fix: start .*delete/m;

test("a socket that a driver left behind: by whether it fits a pattern, and whether the node has another", async () => {
  const pattern = node.at("plugins/*/csi.sock");
  const said = async (target: object) =>
    LEFT.exec((await node.look({ ...WHOLE, ...target })).says("drivers-found"))?.slice(1);
  mkdirSync(node.at("plugins", "gone"), { recursive: true });
  await leaveDeadSocket(node.at("plugins", "gone", "csi.sock"));
  const alone = ["problem", "; this node has no other driver"];
  expect(await said({})).toEqual(alone);
  // Also beside one of a dead registrar.
  await leaveDeadSocket(`${node.directory}/x.csi-reg.sock`);
  expect(await said({})).toEqual(alone);
  const { healthy, drivers } = await node.look(WHOLE);
  expect([healthy, drivers.map(({ state }) => state)]).toEqual([false, ["dead"]]);
  await node.driverUnder("x.csi");
  expect(await said({ pattern })).toEqual(["warning", ""]);
  expect(await said({})).toEqual(["skipped", ""]);
  const before = (await node.look(WHOLE)).says("drivers-found");
  await leaveDeadSocket(node.at("plugins", "x.csi", "other.sock"));
  expect((await node.look(WHOLE)).says("drivers-found")).toBe(before);
  // Who asks for one driver is not told of it.
  expect((await node.look()).says("drivers-found")).not.toMatch(LEFT);
});

test.each([
  [{ deny: ["x.csi"] }, 0, /^ok: .*has the driver x\.csi, not to be registered, as configured: /],
  [{ allow: ["y.csi"] }, 0, /^ok: .*has the driver x\.csi, not to be registered, as configured: /],
  [{ deny: ["y.csi"] }, 1, /^problem: /],
])("doctor does not judge a driver that %j may keep out", async (names, problems, expected) => {
  await node.driverUnder("x.csi", { nodeId: "n".repeat(257) });
  const { says, summary } = await node.look({ ...WHOLE, names: parseNameLists(names) });
  expect(says("drivers-found")).toMatch(expected);
  expect(summary.problem).toBe(problems);
});

test("a socket of a pattern that is no node service is named, and the driver to leave out", async () => {
  await node.driver();
  const reason = "rpc error: code = Unimplemented desc = unknown service csi.v1.Node";
  await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", error: reason }] });
  await (await node.registrar({ onRegistrationFailure: "retry" })).state("refused");
  const pattern = node.csiAddress.replace("csi.sock", "*.sock");
  const { says } = await node.look({ ...WHOLE, kubeletRegistrationPath: pattern, pattern });
  const advice = `what listens on ${node.csiAddress} does not serve CSI's Node service: leave it out with --deny-drivers=x.csi`;
  expect(says("registration")).toContain(advice);
});

test("a driver with an illegal name is one problem: kubelet would refuse it because of that", async () => {
  await node.driverUnder("x.csi", { name: "a_b" });
  expect(problemsIn(await node.look(WHOLE))).toEqual(["CSI004", "CSI020 of CSI004"]);
  await node.driverUnder("y.csi", { name: "c_d", nodeId: "n".repeat(257) });
  expect(problemsIn(await node.look(WHOLE))).toContain("CSI006");
});

test("a driver behind a link in kubelet's plugins is found, and what is not searched is named", async () => {
  await node.driverUnder("good.csi");
  mkdirSync(node.at("data"));
  await node.driver({ csiAddress: node.at("data", "csi.sock"), name: "linked.csi" });
  fs.symlinkSync(node.at("data"), node.at("plugins", "linked.csi"));
  for (const gone of ["gone", "loop"]) fs.symlinkSync(gone, node.at("plugins", gone));
  const { says } = await node.look(WHOLE);
  expect(says("drivers-found")).toMatch(/data\/csi\.sock has the driver linked\.csi, for which there is no/);
  expect(says("drivers-found")).not.toMatch(/gone|loop|too deep/);
  // In a container the host's own path leads nowhere.
  fs.symlinkSync("/gone", node.at("plugins", "away"));
  expect((await node.look(WHOLE)).says("drivers-found")).toMatch(
    /^unknown: \S+plugins\/away is a symbolic link to \/gone, which cannot be followed from here as on/m,
  );
  fs.rmSync(node.at("plugins", "away"));

  mkdirSync(node.at("data/more"));
  const deep = (await node.look(WHOLE)).says("drivers-found");
  expect(deep).toMatch(/^unknown: \S+\/data leads to directories that were not searched/m);
  fs.rmdirSync(node.at("data/more"));
  for (const name of ["d", "e/f"]) mkdirSync(node.at("plugins/a/b/c", name), { recursive: true });
  mkdirSync(node.at("plugins/g/h/i/j"), { recursive: true });
  const deepest = (await node.look(WHOLE)).says("drivers-found").split("\n");
  expect(deepest.filter((line) => /^unknown: \S+\/(?:a\/b\/c|g\/h\/i) leads to dir/.test(line))).toHaveLength(
    1,
  );
});

test("what is deep below a driver's own directory, or among kubelet's volumes, is not needed", async () => {
  const csiAddress = await node.driverUnder("x.csi");
  mkdirSync(node.at("plugins/x.csi/a/b/c"), { recursive: true });
  mkdirSync(node.at("data/more"), { recursive: true });
  fs.symlinkSync(node.at("data"), node.at("plugins/x.csi/link"));
  const said = async (target = {}) => (await node.look({ ...WHOLE, ...target })).says("drivers-found");
  // Before it is registered, as a CSI driver, it may be any directory.
  const deep = /^unknown: \S+\/(?:a\/b|data) leads to dir/m;
  const other = await node.plugin("x-reg.sock", { type: "DRAPlugin", name: "x.csi" });
  expect(await said()).toMatch(deep);
  await other.close();
  expect(await said({ csiSocketPath: csiAddress })).toMatch(/^skipped: \S+ leads to dir.* own; fix: \S.*$/);
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint: csiAddress });
  mkdirSync(node.at("plugins/kubernetes.io/iscsi/iface-default/0-lun-0/data"), { recursive: true });
  expect(await said()).toMatch(/^skipped: \S+ leads to dir.* own; fix: \S.*$/);
  // As a container has it that sees the driver, and not where kubelet has it.
  await node.driverUnder("y.csi", { name: "y.csi" });
  mkdirSync(node.at("plugins/y.csi/a/b/c"), { recursive: true });
  expect(await said()).toMatch(/^unknown: \S+\/y\.csi\/a\/b leads to dir/m);
  expect(await said({ csiSocketPath: csiAddress })).not.toMatch(/^unknown/m);
  await node.plugin("y.csi-reg.sock", { name: "y.csi", endpoint: "/unseen/csi.sock" });
  expect(await said()).not.toMatch(/^unknown/m);
  // A socket in none of its own says nothing about the directories beside it.
  await node.driver({ csiAddress: node.at("plugins/z.sock"), name: "z.csi" });
  await node.plugin("z.csi-reg.sock", { name: "z.csi", endpoint: node.at("plugins/z.sock") });
  mkdirSync(node.at("plugins/other/a/b/c"), { recursive: true });
  expect(await said()).toMatch(/^unknown: \S+\/other\/a\/b leads to dir/m);
});

const HTTP1 = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";

test.each([
  ["HTTP/1", (socket: Socket) => socket.end(HTTP1), /^skipped: \S+ does not speak HTTP\/2.*$/, ""],
  [
    "HTTP/1 unasked",
    (socket: Socket) => socket.pause().write(HTTP1, () => socket.destroy()),
    /^skipped: /,
    "",
  ],
  [
    "nothing",
    () => {},
    "",
    /^warning: .*metrics\.sock did not answer .* a driver .* beside it; fix: see what/,
  ],
  [
    "no word",
    (socket: Socket) => socket.end(),
    "",
    /^warning: .*sock fails GetPluginInfo: .* beside it; fix:/,
  ],
])(
  "a socket that speaks %s beside a driver with a registrar is no driver's",
  async (_, speak, found, identity) => {
    const csiAddress = await node.driverUnder("x.csi");
    const kubelet = await node.kubelet();
    await node.registrar({ csiAddress, endpoint: csiAddress });
    await untilNotified(kubelet, await kubelet.registered("x.csi"));
    const other = node.at("plugins/x.csi/metrics.sock");
    await using _other = await startForeignSocket(other, speak);
    const { says, drivers, summary } = await node.look(WHOLE, { impatient: true });
    expect(says("drivers-found")).toMatch(found);
    expect(says("driver-identity").split("\n")).toContainEqual(
      identity === "" ? expect.stringMatching(/^ok: /) : expect.stringMatching(identity),
    );
    expect(drivers).toMatchObject([{ name: "x.csi", state: "registered" }]);
    expect([summary.problem, summary.unknown]).toEqual([0, 0]);
    // Who names it takes it for the driver's.
    const named = await node.look({ ...PATHLESS, csiSocketPath: other }, { impatient: true });
    expect(named.says("driver-identity")).toMatch(/^problem: the CSI driver .* GetPluginInfo/);
  },
);

test("a socket alone: what speaks another protocol is no driver's, what is silent may be one that hangs", async () => {
  for (const name of ["http", "silent"]) mkdirSync(node.at("plugins", name), { recursive: true });
  await using _http = await startForeignSocket(node.at("plugins/http/a.sock"), (socket) => socket.end(HTTP1));
  await using _silent = await startForeignSocket(node.at("plugins/silent/b.sock"));
  const { says, drivers } = await node.look(WHOLE, { impatient: true });
  expect(says("drivers-found")).toMatch(/^skipped: \S+a\.sock does not speak HTTP\/2, .*$/);
  expect(says("driver-identity")).toMatch(/^problem: .*b\.sock did not answer GetPluginInfo within 1 s; .*$/);
  expect(drivers).toMatchObject([{ name: null, csiSocket: node.at("plugins/silent/b.sock") }]);
  const named = await node.look({ csiSocketPath: node.at("plugins/http/a.sock") }, { impatient: true });
  expect(named.says("driver-identity")).toMatch(/^problem: the CSI driver fails GetPluginInfo: Unavailable/);
});
