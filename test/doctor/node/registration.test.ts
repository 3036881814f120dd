import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { told } from "../../support/told";
import { createDoctorNode, WHOLE } from "./doctor-node";
import { findingsOf, healthyFacts } from "./healthy-facts";

test("a driver that is registered: no problem, and nothing changed by the visit", async () => {
  await using node = await createDoctorNode();
  const driver = await node.driver({ nodeId: "n1" });
  const kubelet = await node.kubelet();
  const { registrar } = await node.registrar();
  await told(kubelet, await kubelet.registered("x.csi"));
  // The name that the socket was bound to goes a moment later.
  await eventually(() => expect(readdirSync(node.directory)).toEqual(["x.csi-reg.sock"]));
  const [tree, tally] = [node.tree(), { ...registrar.status().tally }];
  const events = kubelet.events.history().length;

  const { says, healthy, summary } = await node.look();
  expect(says("registration")).toMatch(/^ok: x\.csi is registered with kubelet, says .*-reg\.sock$/);
  expect(says("registration-endpoint")).toMatch(
    `ok: x.csi is at the path that kubelet gets: ${node.csiAddress}`,
  );
  expect(says("registration-versions")).toBe("ok: x.csi offers versions that kubelet accepts: 1.0.0");
  expect(says("registration-duplicates")).toBe("ok: x.csi has one living registration socket");
  expect(says("directory-kubelets")).toMatch(/^ok: .*is kubelet's: it has called/);
  expect(says("other-registrations")).toBe("");
  expect([healthy, summary.problem, summary.warning]).toEqual([true, 0, 0]);

  expect(node.tree()).toEqual(tree);
  expect(registrar.status().tally).toEqual(tally);
  expect(registrar.status().state).toBe("registered");
  expect(kubelet.events.history()).toHaveLength(events);
  const methods = driver.events.history().flatMap((event) => (event.kind === "called" ? [event.method] : []));
  expect(new Set(methods)).toEqual(new Set(["GetPluginInfo", "Probe", "NodeGetInfo", "NodeGetCapabilities"]));
});

test("without a driver's socket every driver of the node is looked at", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const kubelet = await node.kubelet();
  await node.registrar();
  await told(kubelet, await kubelet.registered("x.csi"));
  const { says, healthy } = await node.look(WHOLE);
  expect(says("driver-socket")).toBe("");
  expect(says("registration")).toMatch(/^ok: x\.csi is registered/);
  expect(healthy).toBe(true);
});

test("kubelet does not call", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await (await node.registrar()).state("listening");
  const { says, healthy } = await node.look();
  expect(says("registration")).toMatch(/is published on .*, but .* has not called; fix: .*plugins_registry/);
  expect(healthy).toBe(false);
});

test("kubelet refused the driver", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason: "no" }] });
  await (await node.registrar({ onRegistrationFailure: "retry" })).state("refused");
  const { says } = await node.look();
  expect(says("registration")).toMatch(
    /was refused by kubelet: RegisterPlugin .*: no; fix: see kubelet's log/,
  );
});

test.each([
  // As the official one: it does not tell.
  [{}, "registration", /^unknown: x\.csi has a registrar .*; fix: kubectl get csinode/],
  [
    { endpoint: "/y.sock" },
    "registration-endpoint",
    /^problem: .* at \/y\.sock, not at .*csi\.sock; fix: correct/,
  ],
  [{ endpoint: "csi.sock" }, "registration-endpoint", /csi\.sock, which is no absolute path/],
  [{ endpoint: "" }, "registration-endpoint", /reg\.sock, its registration socket, not at/],
  [{ supportedVersions: ["2.0.0"] }, "registration-versions", /that kubelet refuses: .*; fix: offer 1\.0/],
  [{ supportedVersions: [] }, "registration-versions", /empty list/],
])("another registrar that answers %j: %s", async (info, check, expected) => {
  await using node = await createDoctorNode();
  await node.driver();
  const plugin = await node.plugin("x.csi-reg.sock", info);
  expect((await node.look()).says(check)).toMatch(expected);
  await plugin.events.when("left");
});

test("no registrar, and a file in the place of its socket", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const none = await node.look();
  expect(none.says("registration")).toMatch(/x\.csi has no registration socket in .*; fix: see whether/);
  writeFileSync(`${node.directory}/x.csi-reg.sock`, "");
  const file = await node.look();
  expect(file.says("registration")).toMatch(/^problem: .* is a file, not a socket; fix: remove it$/);
});

test("sockets of others: alive, dead, silent, of an unknown type, in a subfolder; hidden ones do not count", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  mkdirSync(`${node.directory}/sub`);
  await node.plugin("x.csi-reg.sock", {});
  await node.plugin("gpu.sock", { name: "gpu", type: "DevicePlugin", endpoint: "" });
  await node.plugin("odd-reg.sock", { name: "odd", type: "OddPlugin" });
  await leaveDeadSocket(`${node.directory}/sub/gone-reg.sock`);
  await leaveDeadSocket(`${node.directory}/.reg-00000`);
  writeFileSync(`${node.directory}/notes.txt`, "");
  const { says, healthy } = await node.look();
  expect(says("other-registrations").split("\n").sort()).toEqual([
    "ok: gpu, odd answer too",
    expect.stringMatching(/^warning: .*odd-reg\.sock is of type "OddPlugin"/),
    expect.stringMatching(/^warning: .*sub\/gone-reg\.sock was left behind/),
  ]);
  expect(healthy).toBe(true);
});

const ROOT = { uid: 0, advice: /^see what denies it to root: SELinux/ };
const USER = { uid: 1000, advice: /^run registrar doctor as root$/ };

test.each([
  ["EACCES", ROOT, "unknown", "unknown"],
  ["EPERM", USER, "unknown", "unknown"],
  ["EACCES", USER, "unknown", "unknown"],
  ["ETIMEDOUT", { uid: 0, advice: /^see what is mounted there/ }, "problem", "warning"],
  ["ELOOP", { uid: 0, advice: /^correct the symbolic links/ }, "problem", "warning"],
  ["EIO", { uid: 1000, advice: /: dmesg$/ }, "problem", "warning"],
])(
  "a socket that cannot be looked at, %s, by %j: %s, of others %s",
  (errno, { uid, advice }, ofDriver, ofOther) => {
    const registrations = ["x.csi", "y.csi"].map((name) => ({
      socket: { kind: "out-of-reach" as const, path: `/registration/${name}-reg.sock`, errno },
      info: undefined,
      report: undefined,
      endpoint: undefined,
    }));
    const facts = healthyFacts({ facts: { registrations }, host: { uid } });
    const seen = ["registration", "other-registrations"].flatMap((check) => findingsOf(check, facts));
    const text = expect.stringMatching(`^cannot be looked at: ${errno}`);
    const fix = expect.stringMatching(advice);
    expect(seen).toMatchObject([
      { status: ofDriver, subject: "/registration/x.csi-reg.sock", text, fix },
      { status: ofOther, subject: "/registration/y.csi-reg.sock", text, fix },
    ]);
  },
);

test("a symbolic link to nothing in a socket's place", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.plugin("x.csi-reg.sock", {});
  symlinkSync("none", `${node.directory}/gone-reg.sock`);
  expect((await node.look()).says("other-registrations")).toMatch(
    /^warning: .*gone-reg\.sock is a symbolic link to nothing; fix: remove it$/,
  );
});

test("a registration socket that gets another name during the visit", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.plugin(".moved", { endpoint: node.csiAddress });
  const before = `${node.directory}/x.csi-reg.sock`;
  await using _before = await startForeignSocket(before, (connection) => {
    rmSync(before, { force: true });
    if (existsSync(`${node.directory}/.moved`))
      renameSync(`${node.directory}/.moved`, `${node.directory}/x.csi-_k3f-reg.sock`);
    connection.destroy();
  });
  const { findings, facts } = await node.look();
  expect(facts.registrations.map(({ socket }) => socket.path)).toEqual([
    `${node.directory}/x.csi-_k3f-reg.sock`,
  ]);
  expect(findings.filter(({ status }) => /problem|warning/.test(status))).toEqual([]);
});

test("a registration socket that is published during the visit", async () => {
  await using node = await createDoctorNode();
  const driver = await node.driver();
  await node.plugin(".later", { endpoint: node.csiAddress });
  const published = driver.events
    .when("called")
    .then(() => renameSync(`${node.directory}/.later`, `${node.directory}/x.csi-reg.sock`));
  const { says } = await node.look();
  await published;
  expect(says("registration")).toMatch(/^unknown: x\.csi has a registrar on .*x\.csi-reg\.sock/);
});

test("two sockets for one driver; of another driver that is a warning only", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.plugin("x.csi-reg.sock", {});
  await node.plugin("x.csi-other-reg.sock", {});
  const { says, healthy } = await node.look();
  expect(says("registration-duplicates")).toMatch(/^problem: x\.csi has 2 living .*: .*; fix: leave one/);
  expect(healthy).toBe(false);
  const other = await node.look({ csiSocketPath: node.at("none.sock"), kubeletRegistrationPath: undefined });
  expect(other.says("registration-duplicates")).toMatch(/^warning: /);
});

test("a second registrar that stands by is worth a warning, whoever is looked at", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const kubelet = await node.kubelet();
  const first = await node.registrar();
  await first.state("registered");
  const second = await node.registrar();
  await Promise.all([first.state("standby"), second.state("registered")]);
  await told(kubelet, await kubelet.registered("x.csi"));
  const standsBy = /^warning: x\.csi has 1 more registrar on standby .*; fix: leave one registrar/;
  for (const target of [{}, WHOLE])
    await eventually(async () =>
      expect((await node.look(target)).says("registration-duplicates")).toMatch(standsBy),
    );
  await first.registrar.close();
  await eventually(async () => expect((await node.look()).says("registration-duplicates")).toMatch(/^ok: /));
});

test("an endpoint where there is nothing, another driver, or something else", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const told = { kubeletRegistrationPath: node.at("y.sock") };
  await node.plugin("x.csi-reg.sock", { endpoint: node.at("y.sock") });
  const says = async () => (await node.look(told)).says("registration-endpoint");
  expect(await says()).toMatch(/^problem: x\.csi is said to be at .*y\.sock, which is not there/);
  {
    await using _other = await node.driver({ csiAddress: node.at("y.sock"), name: "y.csi" });
    expect(await says()).toMatch(/^problem: .*where the driver y\.csi answers/);
    expect((await node.look(told)).says("kubelet-path")).toMatch(
      /y\.sock is the path .*; on the host the driver's socket is .*csi\.sock; fix: write --kubelet-reg/,
    );
  }
  await using _none = await startForeignSocket(node.at("y.sock"), (socket) => socket.destroy());
  expect(await says()).toMatch(/which fails GetPluginInfo/);
});
