import { eventually } from "../support/eventually";
import { expectNothingLeft } from "../support/resources";
import type { Certificate } from "./support/certificates";
import { DRIVER } from "./support/controlled-registrations";
import { FOREIGN_TAINT, makeTestCertificate, STARTUP_TAINT, startFixture } from "./support/fixture";

let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeTestCertificate();
});

const TAINTS = [FOREIGN_TAINT, STARTUP_TAINT];
const kindsOf = (requests: readonly { readonly kind: string }[]) => requests.map(({ kind }) => kind);

test("the taint goes when kubelet says that the driver is registered, not before, and nobody else's does", () =>
  expectNothingLeft(async () => {
    await using fixture = await startFixture(certificate, undefined, (server) => server.setTaints(TAINTS));
    const { server, registrations, log, readiness } = fixture;
    await eventually(() => expect(server.watches).toBe(1));
    server.listed = [DRIVER];
    for (const state of ["publishing", "listening", "asked", "refused"] as const) registrations.set(state);
    expect(readiness.status().taints).toMatchObject([{ present: true, overdueSince: undefined }]);
    expect(kindsOf(server.requests)).toEqual(["get-node", "watch"]);

    registrations.set("registered");
    const { fields } = await log.when("Startup taint removed");
    expect(fields).toMatchObject({ taint: `${STARTUP_TAINT.key}:NoSchedule`, csiDriverName: DRIVER });
    expect(server.node?.spec.taints).toEqual([FOREIGN_TAINT]);
    expect(kindsOf(server.requests).slice(2)).toEqual(["get-csinode", "patch-node"]);
    expect(readiness.status().taints).toMatchObject([
      { driverName: DRIVER, taint: STARTUP_TAINT.key, present: false, removals: 1 },
    ]);
  }));

test("a taint that is put on after the driver was registered goes too (aws-ebs#2447, aws-efs#1613)", async () => {
  await using fixture = await startFixture(certificate);
  const { server, registrations, log } = fixture;
  server.listed = [DRIVER];
  registrations.set("registered");
  await eventually(() => expect(server.watches).toBe(1));
  expect(kindsOf(server.requests)).toEqual(["get-node", "watch"]);

  server.setTaints(TAINTS);
  await log.when("Startup taint removed");
  server.setTaints([STARTUP_TAINT]);
  await log.when("Startup taint removed", 2);
  expect(server.node?.spec.taints).toEqual([]);
});

test("as long as CSINode lacks the driver the taint stays, and that is told once (aws-efs#1936, aws-ebs#1945)", async () => {
  await using fixture = await startFixture(certificate, undefined, (server) => server.setTaints(TAINTS));
  const { server, registrations, log, readiness } = fixture;
  server.listed = ["other.csi.example.com"];
  registrations.set("registered");
  await log.when("Startup taint stays: kubelet says that it registered the driver, CSINode lacks it");
  expect(readiness.status().taints[0]).toMatchObject({
    present: true,
    hindrance: "CSINode does not list the driver",
    overdueSince: expect.any(Number),
  });
  const before = server.requests.length;
  await eventually(() => expect(server.requests.length).toBeGreaterThan(before + 3));
  expect(kindsOf(server.requests)).not.toContain("patch-node");
  expect(
    log.all("Startup taint stays: kubelet says that it registered the driver, CSINode lacks it"),
  ).toHaveLength(1);

  server.listed = [DRIVER];
  await log.when("Startup taint removed");
  expect(server.node?.spec.taints).toEqual([FOREIGN_TAINT]);
});

test("somebody rewrites the list between our read and our patch: nothing of theirs is undone (aws-efs#1491)", async () => {
  await using fixture = await startFixture(certificate, undefined, (server) => server.setTaints(TAINTS));
  const { server, registrations, log } = fixture;
  await eventually(() => expect(server.watches).toBe(1));
  server.listed = [DRIVER];
  const other = { key: "other.example.com/agent-not-ready", effect: "NoSchedule" };
  const rewrites = [
    [other, FOREIGN_TAINT, STARTUP_TAINT],
    [STARTUP_TAINT, other],
    [other, STARTUP_TAINT],
  ];
  server.script = ({ kind }) => {
    const rewrite = kind === "patch-node" ? rewrites.shift() : undefined;
    if (rewrite) server.setTaints(rewrite);
    return undefined;
  };
  registrations.set("registered");
  await log.when("Startup taint removed");
  expect(rewrites).toEqual([]);
  expect(server.node?.spec.taints).toEqual([other]);
});

test.each([409, 422])(
  "%s is answered with a fresh read and another try at once (aws-efs#1320)",
  async (code) => {
    await using fixture = await startFixture(certificate, undefined, (server) => server.setTaints(TAINTS));
    const { server, registrations, log } = fixture;
    await eventually(() => expect(server.watches).toBe(1));
    server.listed = [DRIVER];
    let rejections = 0;
    server.script = ({ kind }) => {
      if (kind !== "patch-node" || rejections >= 3) return undefined;
      rejections += 1;
      return { kind: "status", code, message: "the object has been modified" };
    };
    registrations.set("registered");
    await log.when("Startup taint removed");
    const patches = ["patch-node", "get-node"];
    expect(kindsOf(server.requests).slice(3)).toEqual([...patches, ...patches, ...patches, "patch-node"]);
    expect(log.records.filter(({ severity }) => severity !== "info")).toEqual([]);
  },
);

test("a taint that somebody puts back again and again is removed ever less often, and each time it is seen", async () => {
  await using fixture = await startFixture(certificate, {
    startupTaints: ["{driver}/agent-not-ready"],
    pace: {
      taint: { unlisted: { initialMs: 10, maxMs: 10 }, fight: { initialMs: 60_000, maxMs: 60_000 } },
    },
  });
  const { server, registrations, log, readiness } = fixture;
  await eventually(() => expect(server.watches).toBe(1));
  server.listed = [DRIVER];
  registrations.set("registered");
  for (const round of [1, 2, 3, 4]) {
    server.setTaints([STARTUP_TAINT]);
    await log.when("Startup taint removed", round);
  }
  expect(log.all("Startup taint was removed, and somebody put it back")).toHaveLength(1);
  const before = server.requests.length;
  server.setTaints([STARTUP_TAINT]);
  await eventually(() =>
    expect(readiness.status().taints[0]?.hindrance).toBe("somebody puts it back again and again"),
  );
  expect(server.requests.length).toBe(before);
});

test("a driver whose name is that of others gets neither their taint off nor their condition", async () => {
  const options = { startupTaints: ["{driver}/not-ready"], condition: "{driver}/Ready", conditionDelayMs: 0 };
  const names = ["node.kubernetes.io", "node.cilium.io", "nfs.csi.k8s.io"];
  const taints = names.map((name) => ({ key: `${name}/not-ready`, effect: "NoExecute" }));
  await using fixture = await startFixture(certificate, { ...options, severalDrivers: true }, (server) =>
    server.setTaints(taints),
  );
  const { server, registrations, log, readiness } = fixture;
  server.listed = names;
  for (const name of names) registrations.set("registered", name);
  await log.when("Startup taint removed");
  await eventually(() => expect(server.node?.status.conditions).toHaveLength(2));
  expect(server.node?.spec.taints).toEqual(taints.slice(0, 2));
  const types = server.node?.status.conditions.map(({ type }) => type);
  expect(types).toEqual([`${DRIVER}/Ready`, "nfs.csi.k8s.io/Ready"]);
  const warnings = log.all("Driver's name is that of others, its taints and conditions are left alone");
  expect(warnings.map(({ fields }) => fields.csiDriverName)).toEqual(names.slice(0, 2));
  expect(readiness.status().taints.map(({ driverName }) => driverName)).toEqual([DRIVER, names[2]]);
});

test("each driver's taint goes with its own registration, and an effect that is not meant stays", async () => {
  const options = { startupTaints: ["{driver}/agent-not-ready:NoExecute"], severalDrivers: true };
  const taintOf = (driver: string, effect: string) => ({ key: `${driver}/agent-not-ready`, effect });
  const [one, two] = ["one.csi.example.com", "two.csi.example.com"];
  await using fixture = await startFixture(certificate, options, (server) =>
    server.setTaints([taintOf(one, "NoExecute"), taintOf(two, "NoExecute"), taintOf(one, "NoSchedule")]),
  );
  const { server, registrations, log } = fixture;
  server.listed = [one, two];
  registrations.set("registered", one);
  await log.when("Startup taint removed");
  expect(server.node?.spec.taints).toEqual([taintOf(two, "NoExecute"), taintOf(one, "NoSchedule")]);
  registrations.set("registered", two);
  await log.when("Startup taint removed", 2);
  expect(server.node?.spec.taints).toEqual([taintOf(one, "NoSchedule")]);
});
