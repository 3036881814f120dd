import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { findingsOf } from "../../../src/doctor/findings/finding";
import { NODE_CHECKS } from "../../../src/doctor/node/checks";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../../support/foreign-socket";
import { told } from "../../support/told";
import { createDoctorNode } from "./doctor-node";

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
  expect(says("registration")).toMatch(
    /^ok: x\.csi is registered with kubelet, says its registrar on .*x\.csi-reg\.sock$/,
  );
  expect(says("registration-endpoint")).toBe(
    `ok: x.csi is at the path that kubelet gets: ${node.csiAddress}`,
  );
  expect(says("registration-versions")).toBe("ok: x.csi offers versions that kubelet accepts: 1.0.0");
  expect(says("registration-duplicates")).toBe("ok: x.csi has one living registration socket");
  expect(says("directory-kubelets")).toMatch(/^ok: .*is kubelet's: it registered/);
  expect(says("other-registrations")).toBe("");
  expect([healthy, summary.problem, summary.warning]).toEqual([true, 0, 0]);

  expect(node.tree()).toEqual(tree);
  expect(registrar.status().tally).toEqual(tally);
  expect(registrar.status().state).toBe("registered");
  expect(kubelet.events.history()).toHaveLength(events);
  const methods = driver.events.history().flatMap((event) => (event.kind === "called" ? [event.method] : []));
  expect(new Set(methods)).toEqual(new Set(["GetPluginInfo", "Probe", "NodeGetInfo"]));
});

test("without a driver's socket every driver of the node is looked at", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const kubelet = await node.kubelet();
  await node.registrar();
  await told(kubelet, await kubelet.registered("x.csi"));
  const target = { csiSocketPath: undefined, kubeletRegistrationPath: undefined };
  const { says, healthy } = await node.look(target);
  expect(says("driver-socket")).toBe(
    "unknown: the CSI driver was not named: those that are found on this node are looked at",
  );
  expect(says("registration")).toMatch(/^ok: x\.csi is registered/);
  expect(healthy).toBe(true);
});

test("kubelet does not call", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await (await node.registrar()).state("listening");
  const { says, healthy } = await node.look();
  expect(says("registration")).toMatch(
    /^problem: x\.csi is published on .*, but kubelet has not called; fix: .*plugins_registry/,
  );
  expect(healthy).toBe(false);
});

test("kubelet refused the driver", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason: "no" }] });
  await (await node.registrar({ onRegistrationFailure: "retry" })).state("refused");
  expect((await node.look()).says("registration")).toMatch(
    /^problem: x\.csi was refused by kubelet: RegisterPlugin error .*: no; fix: these are kubelet's words: see its log on the node/,
  );
});

test("a registrar that does not tell, as the official one", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.plugin("x.csi-reg.sock", {});
  const { says, healthy } = await node.look();
  expect(says("registration")).toMatch(/^unknown: x\.csi has a registrar .*; fix: kubectl get csinode/);
  expect(healthy).toBe(true);
});

test("no registrar, a dead one, a silent one, and a file in the place of one", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const path = `${node.directory}/x.csi-reg.sock`;
  expect((await node.look()).says("registration")).toMatch(
    /^problem: x\.csi has no registration socket in .*; fix: see whether its registrar runs/,
  );
  await leaveDeadSocket(path);
  expect((await node.look()).says("registration")).toMatch(
    /^problem: .* was left behind by the registrar of x\.csi: no process listens on it; fix: start/,
  );
  {
    await using _silent = await startForeignSocket(path);
    const { says } = await node.look({}, { impatient: true });
    expect(says("registration")).toMatch(/^problem: .* does not answer GetInfo in time/);
  }
  rmSync(path);
  writeFileSync(path, "");
  expect((await node.look()).says("registration")).toMatch(
    /^problem: .* is a file in the place of a socket.*; fix: remove it$/,
  );
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

test("a socket that this user may not connect to is unknown, whose ever it is", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const { facts } = await node.look();
  const socketOf = (name: string) =>
    ({
      socket: { kind: "out-of-reach", path: `${node.directory}/${name}-reg.sock`, errno: "EACCES" },
      info: { kind: "not-asked" },
      report: undefined,
      endpoint: undefined,
    }) as const;
  const findings = findingsOf(NODE_CHECKS, {
    ...facts,
    registrations: [socketOf("x.csi"), socketOf("y.csi")],
  });
  const said = findings.filter(({ text }) => /: EACCES$/.test(text));
  expect(said.map(({ check, status, subject }) => [check, status, basename(subject)])).toEqual([
    ["registration", "unknown", "x.csi-reg.sock"],
    ["other-registrations", "unknown", "y.csi-reg.sock"],
  ]);
});

test("two sockets for one driver; of another driver that is a warning only", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.plugin("x.csi-reg.sock", {});
  await node.plugin("x.csi-other-reg.sock", {});
  const { says, healthy } = await node.look();
  expect(says("registration-duplicates")).toMatch(
    /^problem: x\.csi has 2 living registration sockets: .*; fix: leave one/,
  );
  expect(healthy).toBe(false);
  const other = await node.look({ csiSocketPath: node.at("none.sock"), kubeletRegistrationPath: undefined });
  expect(other.says("registration-duplicates")).toMatch(/^warning: /);
  expect(other.says("registration")).toMatch(/^unknown: the CSI driver has no known name/);
});

test("a driver that is down is known by the path that its registrar tells kubelet", async () => {
  await using node = await createDoctorNode();
  await node.plugin("x.csi-reg.sock", {});
  const { says } = await node.look();
  expect(says("registration-endpoint")).toMatch(
    /^problem: x\.csi is said to be at .*csi\.sock, which is not there/,
  );
});

test.each([
  [
    "elsewhere",
    { at: "y.sock" },
    /^problem: x\.csi is said to be at .*y\.sock, not at .*csi\.sock; fix: correct/,
  ],
  ["relative", { endpoint: "csi.sock" }, /"csi\.sock", which is no absolute path/],
  ["empty", { endpoint: "" }, /reg\.sock, its registration socket, not at/],
] as const)(
  "an endpoint that is wrong: %s",
  async (_, { at, endpoint }: { at?: string; endpoint?: string }, expected) => {
    await using node = await createDoctorNode();
    await node.driver();
    await node.plugin("x.csi-reg.sock", { endpoint: endpoint ?? node.at(at ?? "") });
    expect((await node.look()).says("registration-endpoint")).toMatch(expected);
  },
);

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
      /^problem: .*y\.sock is the path that kubelet gets; on the host the driver's socket is .*csi\.sock; fix: write --kubelet-reg/,
    );
  }
  await using _none = await startForeignSocket(node.at("y.sock"), (socket) => socket.destroy());
  expect(await says()).toMatch(/which answers no GetPluginInfo/);
});

test("an endpoint on a host that cannot be seen from here", async () => {
  await using node = await createDoctorNode();
  await node.driver();
  const path = "/var/lib/no-such-kubelet/plugins/x.csi/csi.sock";
  await node.plugin("x.csi-reg.sock", { endpoint: path });
  const { says, healthy } = await node.look({ kubeletRegistrationPath: path });
  expect(says("registration-endpoint")).toBe(
    `unknown: x.csi is said to be at ${path} on the host, which cannot be seen from here`,
  );
  // Nothing is mounted between them, so that is where the driver is on the host too.
  expect(says("kubelet-path")).toMatch(/on the host the driver's socket is .*csi\.sock/);
  expect(healthy).toBe(false);
});

test.each([
  [["2.0.0"], /^problem: x\.csi offers versions that kubelet refuses: .*; fix: offer 1\.0\.0/],
  [[], /empty list/],
])("versions %j", async (supportedVersions, expected) => {
  await using node = await createDoctorNode();
  await node.driver();
  await node.plugin("x.csi-reg.sock", { supportedVersions });
  expect((await node.look()).says("registration-versions")).toMatch(expected);
});
