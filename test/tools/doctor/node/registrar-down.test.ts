import { eachTest } from "../../../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { startStuckSocket } from "../../../support/stuck-socket";
import { createTempFolder } from "../../../support/temp-folder";
import { createDoctorNode, WHOLE } from "./doctor-node";

const DEAD =
  /x\.csi(?:-_k3f)?-reg\.sock was left behind by its registrar: no process listens on it; fix: start its registrar again, .*remove the socket only/;
const LATE =
  /x\.csi-reg\.sock did not answer GetInfo within 1 s; kubelet waits 1 s; fix: see the log of its registrar, .*restart.*remove the socket only/;

const STUCK =
  /x\.csi-reg\.sock does not accept a connection .*: EAGAIN.*; fix: see the log of its registrar, /;

/** A driver that is well, y.csi, and one whose registrar is not, which nobody names. */
const node = eachTest(async () => {
  const node = await createDoctorNode();
  const csiAddress = await node.driverUnder("x.csi");
  const look = async (target: object = WHOLE) => {
    const seen = await node.look(target, { impatient: true });
    return {
      ...seen,
      troubles: seen.findings
        .filter(({ status, code }) => /problem|warning/.test(status) && /CSI01[59]|CSI020/.test(code))
        .map(({ status, code }) => `${status} ${code}`),
    };
  };
  return { ...node, csiAddress, socketPath: `${node.directory}/x.csi-reg.sock`, look };
});

test.each([
  ["killed", "x.csi", leaveDeadSocket, "dead", DEAD],
  ["killed, with an alias", "x.csi-_k3f", leaveDeadSocket, "dead", DEAD],
  ["hanging, and takes connections", "x.csi", startForeignSocket, "hanging", LATE],
  ["hanging, with a full listen queue", "x.csi", startStuckSocket, "hanging", STUCK],
])("%s: one finding, of the registrar", async (_, name, start, state, expected) => {
  const registrationSocket = `${node.directory}/${name}-reg.sock`;
  const socket = await start(registrationSocket);
  const { says, troubles, drivers } = await node.look();
  await socket?.[Symbol.asyncDispose]();
  expect(says("registration")).toMatch(expected);
  expect(troubles).toEqual(["problem CSI015"]);
  const reason = expect.stringMatching(/: no process listens on it$|kubelet waits 1 s$|: EAGAIN/);
  const sockets = { csiSocket: node.csiAddress, registrationSocket };
  expect(drivers).toEqual([{ name: "x.csi", state, since: null, reason, ...sockets }]);
});

test("the sockets that one registrar of many drivers left behind are one finding", async () => {
  await node.driverUnder("y.csi", { name: "y.csi" });
  for (const name of ["x.csi", "y.csi"]) await leaveDeadSocket(`${node.directory}/${name}-reg.sock`);
  const { says, troubles, drivers } = await node.look();
  expect(says("registration")).toMatch(
    /^problem: \S+ has 2 sockets that registrars left behind: no process listens on x\.csi-reg\.sock, y\.csi-reg\.sock; fix: start their/,
  );
  expect(troubles).toEqual(["problem CSI015"]);
  expect(drivers).toMatchObject([{ state: "dead" }, { state: "dead" }]);
});

test("what hangs may be the registrar of another plugin, unless its driver is found or named", async () => {
  await using _hanging = await startForeignSocket(`${node.directory}/gpu.example.com-reg.sock`);
  const { says, drivers } = await node.look();
  expect(says("other-registrations")).toMatch(
    /^unknown: .*gpu\.example\.com-reg\.sock did not answer GetInfo within 1 s; .*; whether it is a CSI driver's is not/,
  );
  expect(drivers).toContainEqual(expect.objectContaining({ name: "gpu.example.com", state: "unknown" }));
  await node.driverUnder("gpu", { name: "gpu.example.com" });
  const found = await node.look();
  expect(found.troubles).toContain("problem CSI015");
  expect(found.drivers).toContainEqual(
    expect.objectContaining({ name: "gpu.example.com", state: "hanging" }),
  );
});

const REMOVE = /was left behind .*remove the socket only if/;

test("a dead socket of a denied driver, or beside a living one, may be removed", async () => {
  await leaveDeadSocket(`${node.directory}/x.csi-_k3f-reg.sock`);
  const denied = await node.look({ ...WHOLE, names: { deny: ["x.csi"] } });
  expect(denied.says("other-registrations")).toMatch(REMOVE);
  expect(denied.troubles).toEqual(["warning CSI019"]);
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint: node.csiAddress });
  const { says, troubles, drivers } = await node.look();
  expect(says("other-registrations")).toMatch(/was left behind .*fix: remove it: /);
  expect(troubles).toEqual(["warning CSI019"]);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unreported" }]);
});

const REMOVE_ALIAS =
  /x\.csi-_k3f-reg\.sock was left behind .*; fix: remove it: kubelet may have the driver by this/;

test("a dead alias beside another socket of its driver is what to remove, whether that one lives or not", async () => {
  for (const name of ["x.csi-_k3f", "x.csi"]) await leaveDeadSocket(`${node.directory}/${name}-reg.sock`);
  const both = (await node.look()).says("registration").split("\n");
  expect(both).toEqual([
    expect.stringMatching(REMOVE_ALIAS),
    expect.stringMatching(/x\.csi-reg\.sock was left .* start its registrar/),
  ]);
  await node.plugin("x.csi-reg.sock", { name: "x.csi", endpoint: node.csiAddress });
  expect((await node.look()).says("other-registrations")).toMatch(REMOVE_ALIAS);
});

test("a dead socket of a driver that has another name now is what to remove", async () => {
  await leaveDeadSocket(`${node.directory}/old.csi-reg.sock`);
  const endpoint = await node.driverUnder("old.csi", { name: "new.csi" });
  expect((await node.look()).says("other-registrations")).toMatch(
    /old\.csi-reg\.sock .* start its registrar/,
  );
  await node.plugin("new.csi-reg.sock", { name: "new.csi", endpoint });
  const { says, troubles } = await node.look();
  expect(says("other-registrations")).toMatch(
    /old\.csi-reg\.sock was left behind .*; fix: remove it: the driver in that directory is called new\.csi now$/,
  );
  expect(troubles).toContain("warning CSI019");
});

test("a registration socket that fails, or cannot be asked: its state is unknown", async () => {
  await using _failing = await startForeignSocket(node.socketPath, (socket) => socket.destroy());
  const { says, troubles, drivers } = await node.look();
  expect(says("registration")).toMatch(/x\.csi-reg\.sock fails GetInfo: Unavailable: /);
  expect(troubles).toEqual(["problem CSI015"]);
  const reason = expect.stringMatching(/x\.csi-reg\.sock fails GetInfo: Una/);
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unknown", reason }]);
});

test("the row of a driver that has ended says so, also where its socket is outside of kubelet's root", async () => {
  const path = node.keep(await createTempFolder()).at("csi.sock");
  await leaveDeadSocket(path);
  await node.plugin("z.csi-reg.sock", { name: "z.csi", endpoint: path });
  const { drivers } = await node.look(WHOLE);
  expect(drivers).toContainEqual(
    expect.objectContaining({
      reason: expect.stringMatching(/^z\.csi is said to be at \S+, which does not accept/),
      csiSocket: path,
    }),
  );
});
