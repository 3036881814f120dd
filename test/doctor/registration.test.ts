import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { examine } from "../../src/doctor/checks";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { openWard } from "./ward";

test("a driver that is registered: no problem, and nothing changed by the visit", async () => {
  await using ward = await openWard();
  const driver = await ward.driver({ nodeId: "n1" });
  const kubelet = await ward.kubelet();
  const { registrar } = await ward.registrar();
  await kubelet.registered("x.csi");
  // The name that the socket was bound to goes a moment later.
  await eventually(() => expect(readdirSync(ward.directory)).toEqual(["x.csi-reg.sock"]));
  const [tree, tally] = [ward.tree(), { ...registrar.status().tally }];
  const events = kubelet.events.history().length;

  const { says, healthy, summary } = await ward.visit();
  expect(says("registration")).toMatch(
    /^ok: x\.csi is registered with kubelet, says its registrar on .*x\.csi-reg\.sock$/,
  );
  expect(says("registration-endpoint")).toBe(`ok: x.csi is where kubelet is told: ${ward.csiAddress}`);
  expect(says("registration-versions")).toBe("ok: x.csi offers versions that kubelet accepts: 1.0.0");
  expect(says("registration-duplicates")).toBe("ok: x.csi has one living registration socket");
  expect(says("directory-kubelets")).toMatch(/^ok: .*is kubelet's: it registered/);
  expect(says("other-registrations")).toBe("");
  expect([healthy, summary.problem, summary.warning]).toEqual([true, 0, 0]);

  expect(ward.tree()).toEqual(tree);
  expect(registrar.status().tally).toEqual(tally);
  expect(registrar.status().state).toBe("registered");
  expect(kubelet.events.history()).toHaveLength(events);
  const methods = driver.events.history().flatMap((event) => (event.kind === "called" ? [event.method] : []));
  expect(new Set(methods)).toEqual(new Set(["GetPluginInfo", "Probe", "NodeGetInfo"]));
});

test("without a driver's socket every driver that is announced is looked at", async () => {
  await using ward = await openWard();
  await ward.driver();
  const kubelet = await ward.kubelet();
  await ward.registrar();
  await kubelet.registered("x.csi");
  const target = { csiSocketPath: undefined, kubeletRegistrationPath: undefined };
  const { says, healthy } = await ward.visit(target);
  expect(says("driver-socket")).toBe(
    "unknown: the CSI driver was not looked at; cure: name its socket: --csi-address=PATH",
  );
  expect(says("registration")).toMatch(/^ok: x\.csi is registered/);
  expect(healthy).toBe(true);
});

test("kubelet does not call", async () => {
  await using ward = await openWard();
  await ward.driver();
  await (await ward.registrar()).state("listening");
  const { says, healthy } = await ward.visit();
  expect(says("registration")).toMatch(
    /^problem: x\.csi is announced on .*, but kubelet does not call; cure: .*plugins_registry/,
  );
  expect(healthy).toBe(false);
});

test("kubelet refused the driver", async () => {
  await using ward = await openWard();
  await ward.driver();
  await ward.kubelet({ version: "1.28", faults: [{ kind: "refuse", reason: "no" }] });
  await (await ward.registrar({ onRegistrationFailure: "retry" })).state("refused");
  expect((await ward.visit()).says("registration")).toMatch(
    /^problem: x\.csi was refused by kubelet; cure: see the log/,
  );
});

test("a registrar that does not tell, as the official one", async () => {
  await using ward = await openWard();
  await ward.driver();
  await ward.plugin("x.csi-reg.sock", {});
  const { says, healthy } = await ward.visit();
  expect(says("registration")).toMatch(/^unknown: x\.csi has a registrar .*; cure: kubectl get csinode/);
  expect(healthy).toBe(true);
});

test("no registrar, a dead one, a silent one, and a file in the place of one", async () => {
  await using ward = await openWard();
  await ward.driver();
  const path = `${ward.directory}/x.csi-reg.sock`;
  expect((await ward.visit()).says("registration")).toMatch(
    /^problem: x\.csi has no registration socket in .*; cure: see whether its registrar runs/,
  );
  await leaveDeadSocket(path);
  expect((await ward.visit()).says("registration")).toMatch(
    /^problem: .* was left behind: nobody listens on it; cure: start/,
  );
  {
    await using _silent = await startForeignSocket(path);
    const { says } = await ward.visit({}, { impatient: true });
    expect(says("registration")).toMatch(/^problem: .* does not answer GetInfo in time/);
  }
  rmSync(path);
  writeFileSync(path, "");
  expect((await ward.visit()).says("registration")).toMatch(
    /^problem: .* is a file in the place of a socket.*; cure: remove it$/,
  );
});

test("sockets of others: alive, dead, silent, of an unknown type, in a subfolder; hidden ones do not count", async () => {
  await using ward = await openWard();
  await ward.driver();
  mkdirSync(`${ward.directory}/sub`);
  await ward.plugin("x.csi-reg.sock", {});
  await ward.plugin("gpu.sock", { name: "gpu", type: "DevicePlugin", endpoint: "" });
  await ward.plugin("odd-reg.sock", { name: "odd", type: "OddPlugin" });
  await leaveDeadSocket(`${ward.directory}/sub/gone-reg.sock`);
  await leaveDeadSocket(`${ward.directory}/.reg-00000`);
  writeFileSync(`${ward.directory}/notes.txt`, "");
  const { says, healthy } = await ward.visit();
  expect(says("other-registrations").split("\n").sort()).toEqual([
    "ok: gpu, odd answer too",
    expect.stringMatching(/^warning: .*odd-reg\.sock is of type "OddPlugin"/),
    expect.stringMatching(/^warning: .*sub\/gone-reg\.sock was left behind/),
  ]);
  expect(healthy).toBe(true);
});

test("a socket that cannot be reached is a problem of the driver whose it is, else unknown", async () => {
  await using ward = await openWard();
  await ward.driver();
  const { facts } = await ward.visit();
  const socketOf = (name: string) =>
    ({
      socket: { kind: "out-of-reach", path: `${ward.directory}/${name}-reg.sock`, errno: "EACCES" },
      info: { kind: "not-asked" },
      state: undefined,
      endpoint: undefined,
    }) as const;
  const findings = examine({ ...facts, registrations: [socketOf("x.csi"), socketOf("y.csi")] });
  const said = findings.filter(({ text }) => text === "cannot be reached: EACCES");
  expect(said.map(({ check, status, subject }) => [check, status, basename(subject)])).toEqual([
    ["registration", "problem", "x.csi-reg.sock"],
    ["other-registrations", "unknown", "y.csi-reg.sock"],
  ]);
});

test("two sockets for one driver; of another driver that is a warning only", async () => {
  await using ward = await openWard();
  await ward.driver();
  await ward.plugin("x.csi-reg.sock", {});
  await ward.plugin("x.csi-other-reg.sock", {});
  const { says, healthy } = await ward.visit();
  expect(says("registration-duplicates")).toMatch(
    /^problem: x\.csi has 2 living registration sockets: .*; cure: leave one/,
  );
  expect(healthy).toBe(false);
  const other = await ward.visit({ csiSocketPath: ward.at("none.sock"), kubeletRegistrationPath: undefined });
  expect(other.says("registration-duplicates")).toMatch(/^warning: /);
  expect(other.says("registration")).toMatch(/^unknown: the CSI driver has no known name/);
});

test("a driver that is down is known by the path that its registrar tells kubelet", async () => {
  await using ward = await openWard();
  await ward.plugin("x.csi-reg.sock", {});
  const { says } = await ward.visit();
  expect(says("registration-endpoint")).toMatch(
    /^problem: x\.csi is said to be at .*csi\.sock: it is not there/,
  );
});

test.each([
  [
    "elsewhere",
    { at: "y.sock" },
    /^problem: x\.csi is said to be at .*y\.sock, not at .*csi\.sock; cure: correct/,
  ],
  ["relative", { endpoint: "csi.sock" }, /"csi\.sock", which is no absolute path/],
  ["empty", { endpoint: "" }, /"", which is no absolute path/],
] as const)(
  "an endpoint that is wrong: %s",
  async (_, { at, endpoint }: { at?: string; endpoint?: string }, expected) => {
    await using ward = await openWard();
    await ward.driver();
    await ward.plugin("x.csi-reg.sock", { endpoint: endpoint ?? ward.at(at ?? "") });
    expect((await ward.visit()).says("registration-endpoint")).toMatch(expected);
  },
);

test("an endpoint where there is nothing, another driver, or something else", async () => {
  await using ward = await openWard();
  await ward.driver();
  const told = { kubeletRegistrationPath: ward.at("y.sock") };
  await ward.plugin("x.csi-reg.sock", { endpoint: ward.at("y.sock") });
  const says = async () => (await ward.visit(told)).says("registration-endpoint");
  expect(await says()).toMatch(/^problem: x\.csi is said to be at .*y\.sock: it is not there/);
  {
    await using _other = await ward.driver({ csiAddress: ward.at("y.sock"), name: "y.csi" });
    expect(await says()).toMatch(/^problem: .*where the driver y\.csi answers/);
    expect((await ward.visit(told)).says("kubelet-path")).toMatch(
      /^problem: .*another socket than that of --csi-address/,
    );
  }
  await using _none = await startForeignSocket(ward.at("y.sock"), (socket) => socket.destroy());
  expect(await says()).toMatch(/which answers no GetPluginInfo/);
});

test("an endpoint on a host that cannot be seen from here", async () => {
  await using ward = await openWard();
  await ward.driver();
  const path = "/var/lib/no-such-kubelet/plugins/x.csi/csi.sock";
  await ward.plugin("x.csi-reg.sock", { endpoint: path });
  const { says, healthy } = await ward.visit({ kubeletRegistrationPath: path });
  expect(says("registration-endpoint")).toBe(
    `unknown: x.csi is said to be at ${path} on the host, which cannot be seen from here`,
  );
  expect(says("kubelet-path")).toMatch(/^unknown: .*it cannot be seen from here/);
  expect(healthy).toBe(true);
});

test.each([
  [["2.0.0"], /^problem: x\.csi offers versions that kubelet refuses: .*; cure: offer 1\.0\.0/],
  [[], /empty list/],
])("versions %j", async (supportedVersions, expected) => {
  await using ward = await openWard();
  await ward.driver();
  await ward.plugin("x.csi-reg.sock", { supportedVersions });
  expect((await ward.visit()).says("registration-versions")).toMatch(expected);
});

test("a directory that is missing, or is none", async () => {
  await using ward = await openWard();
  await ward.driver();
  const missing = await ward.visit({ pluginRegistrationPath: ward.at("none") });
  expect(missing.says("registration-directory")).toMatch(
    /^problem: .*none is not there; cure: mount the host's/,
  );
  expect(missing.says("registration")).toBe("");
  writeFileSync(ward.at("file"), "");
  const file = await ward.visit({ pluginRegistrationPath: ward.at("file") });
  expect(file.says("registration-directory")).toMatch(/^problem: .*file is a file, not a folder/);
});

test("a directory in which no socket path is short enough", async () => {
  await using ward = await openWard();
  await ward.driver();
  const directory = ward.at("d".repeat(90));
  mkdirSync(directory);
  const { says } = await ward.visit({ pluginRegistrationPath: directory });
  expect(says("socket-path")).toMatch(
    /^problem: .*x\.csi-reg\.sock has \d+ bytes, a unix socket path may have 107/,
  );
});
