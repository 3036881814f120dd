import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { silentLogger } from "../../../../src/logging/logger";
import { startRegistration } from "../../../../src/registrar/start-registration";
import { itemsOf } from "../../../../src/tools/doctor/findings/opened";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../../support/foreign-socket";
import { untilNotified } from "../../../support/until-notified";
import { createDoctorNode, problemsIn, WHOLE } from "./doctor-node";

const node = eachTest(async () => {
  const node = await createDoctorNode();
  const driver = await node.driver();
  return { ...node, events: driver.events, socketPath: `${node.directory}/x.csi-reg.sock` };
});

test("a registered driver has no problem, and the visit changes nothing", async () => {
  const kubelet = await node.kubelet();
  const { registrar } = await node.registrar();
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  // The name that the socket was bound to goes a moment later.
  await eventually(() => expect(readdirSync(node.directory)).toEqual(["x.csi-reg.sock"]));
  const [tree, counters] = [node.tree(), { ...registrar.status().counters }];
  const events = kubelet.events.history().length;

  const { says, healthy, summary } = await node.look();
  expect(says("registration")).toMatch(/^ok: x\.csi is registered with kubelet, as its .*-reg\.sock$/);
  const endpoint = `ok: x.csi is at the path that kubelet gets: ${node.csiAddress}`;
  expect(says("registration-endpoint")).toBe(endpoint);
  expect(says("registration-duplicates")).toBe("ok: x.csi has one living registration socket");
  expect(says("directory-kubelets")).toMatch(/^ok: .*is kubelet's: it has called/);
  expect(says("other-registrations")).toBe("");
  expect([healthy, summary.problem, summary.warning]).toEqual([true, 0, 0]);
  // Without a driver's socket every driver of the node is looked at.
  const whole = await node.look(WHOLE);
  expect(whole.says("driver-socket")).toBe("");
  expect(whole.says("registration")).toMatch(/^ok: x\.csi is registered/);
  expect(whole.healthy).toBe(true);

  expect(node.tree()).toEqual(tree);
  expect(registrar.status()).toMatchObject({ state: "registered", counters });
  expect(kubelet.events.history()).toHaveLength(events);
  const methods = node.events.history().flatMap((event) => (event.kind === "called" ? [event.method] : []));
  expect(new Set(methods)).toEqual(new Set(["GetPluginInfo", "NodeGetInfo"]));
});

test("what the registrar of a DRA driver says that keeps it from being registered is a warning", async () => {
  const dra = { type: "DRAPlugin", name: "gpu.example.com", supportedVersions: ["v1.DRAPlugin"] } as const;
  const paths = { endpoint: node.csiAddress, pluginRegistrationPath: node.directory };
  const more = { onRegistrationFailure: "retry" } as const;
  const registration = node.keep(
    await startRegistration({ ...dra, ...paths, ...more, logger: silentLogger }),
  );
  await eventually(() => expect(registration.status().state).toBe("listening"));
  expect((await node.look(WHOLE)).says("other-registrations")).toMatch(
    /^warning: gpu\.example\.com is published on \S+, but kubelet has not called; fix: \S+\/reg must be plugins_registry/,
  );
  await node.kubelet({ version: "1.28" });
  await eventually(() => expect(registration.status().state).toBe("refused"));
  expect((await node.look(WHOLE)).says("other-registrations")).toMatch(
    /^warning: gpu\.example\.com was refused by kubelet: .* no handler registered for plugin type: DRAPlugin .*; fix: this kub/,
  );
});

test("kubelet does not call; kubelet refused the driver", async () => {
  const registrar = await node.registrar({ onRegistrationFailure: "retry" });
  await registrar.state("listening");
  const young = await node.look({}, { isLater: false });
  expect(young.says("registration")).toMatch(
    /^unknown: .* has not called: it was published \d+ s ago; fix: run/,
  );
  const { says, healthy } = await node.look();
  expect(says("registration")).toMatch(
    /^problem: .* published on .*, but .* has not called; fix: .*plugins_registry/,
  );
  expect(healthy).toBe(false);
  await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", error: "no" }] });
  await registrar.state("refused");
  const refused = (await node.look()).says("registration");
  expect(refused).toMatch(/was refused by kubelet: RegisterPlugin .*: no; fix: see kubelet's log/);
});

test.each(["none/csi.sock", "none.sock"])(
  "a refusal because of the registrar's path follows from %s",
  async (name) => {
    const csiAddress = await node.driverUnder("y.csi", { name: "y.csi" });
    const options = { csiAddress, endpoint: node.at(name), onRegistrationFailure: "retry" } as const;
    const registrar = await node.registrar(options);
    await node.kubelet();
    await registrar.state("refused");
    const look = await node.look(WHOLE);
    expect(look.says("registration")).toMatch(
      /^problem: y\.csi was refused by kubelet: .*dial unix .*no such file/,
    );
    expect(problemsIn(look).filter((one) => /CSI01/.test(one))).toEqual(["CSI015 of CSI016", "CSI016"]);
  },
);

test("of versions that kubelet has refused, its words count", async () => {
  const paths = { endpoint: node.csiAddress, pluginRegistrationPath: node.directory };
  const plugin = { type: "CSIPlugin", name: "x.csi", supportedVersions: ["9.9.9"] } as const;
  const more = { onRegistrationFailure: "retry", logger: silentLogger } as const;
  const registration = node.keep(await startRegistration({ ...plugin, ...paths, ...more }));
  await eventually(() => expect(registration.status().state).toBe("listening"));
  expect((await node.look()).says("registration")).toMatch(/^problem: x\.csi will be refused: /);
  await node.kubelet();
  await eventually(() => expect(registration.status().state).toBe("refused"));
  expect((await node.look()).says("registration")).toMatch(/^problem: x\.csi was refused by kubelet: /);
});

const NOT_AT = /^problem: .* at \/y\.sock, not at .*csi\.sock; fix: correct/;

test.each([
  // As the official one: it does not tell.
  [{}, "registration", /^skipped: x\.csi has a registrar .*; fix: .*: kubectl get csinode/],
  [{ endpoint: "/y.sock" }, "registration-endpoint", NOT_AT],
  [{ endpoint: "csi.sock" }, "registration-endpoint", /csi\.sock, which is not an absolute path/],
  [{ endpoint: "" }, "registration-endpoint", /reg\.sock, its registration socket, not at/],
  // Doctor was not called for this one.
  [
    { name: "y.csi", endpoint: "csi.sock" },
    "registration-endpoint",
    /^warning: y\.csi .*which is not an abs/,
  ],
])("another registrar that answers %j: %s", async (info, check, expected) => {
  const plugin = await node.plugin("x.csi-reg.sock", info);
  const { says, drivers } = await node.look();
  expect(says(check)).toMatch(expected);
  if ("endpoint" in info) expect(drivers[0]?.csiSocket).toBe(info.endpoint || node.socketPath);
  await plugin.events.when("left");
});

test("no registrar, and a file in the place of its socket", async () => {
  const registration = async () => (await node.look()).says("registration");
  expect(await registration()).toMatch(/x\.csi has no registration socket in .*; fix: see whether/);
  writeFileSync(node.socketPath, "");
  expect(await registration()).toMatch(/^problem: .* is a file, not a socket; fix: remove it$/);
});

test("sockets of others: alive, dead, in a subfolder; hidden ones do not count", async () => {
  for (const name of ["sub", "full-reg.sock", "empty-reg.sock"]) mkdirSync(`${node.directory}/${name}`);
  await node.plugin("full-reg.sock/x.csi-reg.sock");
  await node.plugin("gpu.sock", { name: "gpu", type: "DevicePlugin", endpoint: "" });
  await leaveDeadSocket(`${node.directory}/sub/gone-reg.sock`);
  await leaveDeadSocket(`${node.directory}/.reg-00000`);
  mkdirSync(`${node.directory}/.hidden`);
  await leaveDeadSocket(`${node.directory}/.hidden/gone-reg.sock`);
  // Kubelet, when it starts, looks there.
  await node.plugin(".hidden/y.csi-reg.sock", { name: "y.csi" });
  writeFileSync(`${node.directory}/notes.txt`, "");
  symlinkSync("none", `${node.directory}/link-reg.sock`);
  await leaveDeadSocket(`${node.directory}/.out-00000`);
  const { says, summary, drivers, facts } = await node.look();
  expect(facts.gaps).toEqual([]);
  expect(drivers.map(({ name }) => name)).toContain("y.csi");
  expect(says("other-registrations").split("\n").sort()).toEqual([
    expect.stringMatching(
      /^skipped: .*empty-reg\.sock is a directory, not a socket: kubelet ignores it; fix/,
    ),
    expect.stringMatching(
      /^warning: .*link-reg\.sock is a symbolic link to none, where no registrar answers; fix: remove it$/,
    ),
    expect.stringMatching(/^warning: .*sub\/gone-reg\.sock was left behind/),
  ]);
  expect(summary.problem).toBe(0);
});

test.each([
  ["a link of any name to its socket", "data/x.csi-reg.sock", "any", "any"],
  ["a link to its directory", "data", "sub", "sub/x.csi-reg.sock"],
])("a registrar is kubelet's by %s", async (_, to, name, socket) => {
  const endpoint = await node.driverUnder("x.csi");
  mkdirSync(node.at("data"));
  await node.plugin("../data/x.csi-reg.sock", { endpoint });
  symlinkSync(node.at(to), `${node.directory}/${name}`);
  // Nothing more is there.
  for (const [link, of] of Object.entries({ me: ".", no: "gone", file: "notes" }))
    symlinkSync(of, `${node.directory}/${link}`);
  writeFileSync(`${node.directory}/notes`, "");
  const { drivers, summary } = await node.look(WHOLE);
  const registrationSocket = `${node.directory}/${socket}`;
  expect(drivers).toMatchObject([{ name: "x.csi", state: "unreported", registrationSocket }]);
  expect([summary.problem, summary.unknown, summary.warning]).toEqual([0, 0, 0]);
  symlinkSync("/gone", `${node.directory}/away`);
  expect((await node.look(WHOLE)).says("registration-directory")).toMatch(
    /^unknown: \S+away is a symbolic link to \/gone, which cannot be followed from here as on the host/m,
  );
});

test("a link to a registrar that hangs is not removed", async () => {
  await using _silent = await startForeignSocket(node.at("silent.sock"));
  symlinkSync(node.at("silent.sock"), node.socketPath);
  const { says } = await node.look({}, { impatient: true });
  expect(says("registration")).toMatch(/^problem: \S+ did not answer GetInfo within 1 s; kubelet waits 1 s;/);
});

test("a hidden socket whose registrar hangs may be the driver's", async () => {
  await using _silent = await startForeignSocket(`${node.directory}/.out-abcde`);
  const { says, healthy } = await node.look({}, { impatient: true });
  expect(says("registration")).toMatch(/^unknown: \S+\.out-abcde did not answer GetInfo within 1 s; [^\n]*$/);
  expect(healthy).toBe(false);
});

test("a registration socket that gets another name during the visit", async () => {
  await node.plugin(".moved", { endpoint: node.csiAddress });
  const after = `${node.directory}/x.csi-_k3f-reg.sock`;
  await using _before = await startForeignSocket(node.socketPath, (connection) => {
    rmSync(node.socketPath, { force: true });
    if (existsSync(`${node.directory}/.moved`)) renameSync(`${node.directory}/.moved`, after);
    connection.destroy();
  });
  const { findings, facts } = await node.look();
  expect(itemsOf(facts.registrations).map(({ socket }) => socket.path)).toEqual([after]);
  expect(findings.filter(({ status }) => /problem|warning/.test(status))).toEqual([]);
});

test("a registration socket that is published during the visit", async () => {
  await node.plugin(".later", { endpoint: node.csiAddress });
  const publish = () => renameSync(`${node.directory}/.later`, node.socketPath);
  const published = node.events.when("called").then(publish);
  const { says } = await node.look();
  await published;
  expect(says("registration")).toMatch(/^skipped: x\.csi has a registrar on .*x\.csi-reg\.sock/);
});

test("two sockets for one driver; of another driver that is a warning only", async () => {
  for (const name of ["x.csi-reg.sock", "x.csi-other-reg.sock"]) await node.plugin(name);
  const { says, healthy } = await node.look();
  expect(says("registration-duplicates")).toMatch(/^problem: x\.csi has 2 living .*: .*; fix: keep only one/);
  expect(healthy).toBe(false);
  const other = await node.look({ csiSocketPath: node.at("none.sock"), kubeletRegistrationPath: undefined });
  expect(other.says("registration-duplicates")).toMatch(/^warning: /);
});

test("a second registrar that stands by is a warning for either driver", async () => {
  const kubelet = await node.kubelet();
  const first = await node.registrar();
  await first.state("registered");
  const second = await node.registrar();
  await Promise.all([first.state("standby"), second.state("registered")]);
  await untilNotified(kubelet, await kubelet.registered("x.csi"));
  const duplicates = async (target = {}) => (await node.look(target)).says("registration-duplicates");
  const standsBy =
    /^warning: x\.csi has more than one registrar, .*; fix: wait if .*; otherwise keep only one registrar/;
  for (const target of [{}, WHOLE])
    await eventually(async () => expect(await duplicates(target)).toMatch(standsBy));
  await first.registrar.close();
  await eventually(async () => expect(await duplicates()).toMatch(/^ok: /));
});

test("an endpoint where there is nothing, another driver, or something else", async () => {
  const other = { kubeletRegistrationPath: node.at("y.sock") };
  await node.plugin("x.csi-reg.sock", { endpoint: node.at("y.sock") });
  const says = async () => (await node.look(other)).says("registration-endpoint");
  expect(await says()).toMatch(/^problem: x\.csi is said to be at .*y\.sock, which is not there/);
  {
    await using _other = await node.driver({ csiAddress: node.at("y.sock"), name: "y.csi" });
    expect(await says()).toMatch(/^problem: .*where the driver y\.csi answers/);
    const path = (await node.look(other)).says("kubelet-path");
    expect(path).toMatch(/y\.sock is the path .*; on the host .* is .*csi\.sock; fix: write: --kubelet-reg/);
  }
  await using _none = await startForeignSocket(node.at("y.sock"), (socket) => socket.destroy());
  expect(await says()).toMatch(/which fails GetPluginInfo/);
});
