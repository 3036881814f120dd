import { startNodeReadiness } from "../../src/node-readiness/start-node-readiness";
import { eventually } from "../support/eventually";
import { recordLog } from "../support/recorded-log";
import { expectNothingLeft } from "../support/resources";
import type { Certificate } from "./support/certificates";
import { createRegistrations, DRIVER } from "./support/controlled-registrations";
import { makeTestCertificate, startFixture } from "./support/fixture";
import { NODE_NAME } from "./support/scripted-api-server";

let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeTestCertificate();
});

const TYPE = `${DRIVER}/Registered`;
const QUICK = { condition: TYPE, conditionDelayMs: 50 };
const PATIENT = { condition: TYPE, conditionDelayMs: 3_600_000 };
const patches = (requests: readonly { readonly kind: string }[]) =>
  requests.filter(({ kind }) => kind === "patch-status").length;

test("True at once when kubelet has registered the driver, False after the delay; one write each", () =>
  expectNothingLeft(async () => {
    await using fixture = await startFixture(certificate, QUICK);
    const { server, registrations, log, readiness } = fixture;
    server.listed = [DRIVER];
    registrations.set("registered");
    expect((await log.when("Node condition set")).fields).toMatchObject({ status: "True" });
    expect(server.node?.status.conditions).toMatchObject([{ type: TYPE, status: "True" }]);
    registrations.set("listening");
    expect((await log.when("Node condition set", 2)).fields).toMatchObject({
      status: "False",
      reason: "NotRegistered",
    });
    registrations.set("refused");
    await log.when("Node condition set", 3);
    expect(server.node?.status.conditions).toMatchObject([{ status: "False", reason: "Refused" }]);
    expect(patches(server.requests)).toBe(3);
    expect(readiness.status().conditions).toMatchObject([{ type: TYPE, status: "False", writes: 3 }]);
  }));

test("nothing is written where the Node says it already, whatever else changes on the Node", async () => {
  await using fixture = await startFixture(certificate, PATIENT, (server) =>
    server.setConditions([{ type: TYPE, status: "True", reason: "Registered" }]),
  );
  const { server, registrations } = fixture;
  server.listed = [DRIVER];
  await eventually(() => expect(server.watches).toBe(1));
  registrations.set("registered");
  server.setTaints([{ key: "a", effect: "NoSchedule" }]);
  registrations.set("asked");
  registrations.set("registered");
  expect(server.requests.map(({ kind }) => kind)).toEqual(["get-node", "watch"]);
});

test("a rolling update or a kubelet restart does not flap it", async () => {
  await using fixture = await startFixture(certificate, PATIENT);
  const { server, registrations, log } = fixture;
  server.listed = [DRIVER];
  registrations.set("registered");
  await log.when("Node condition set");
  for (const state of ["publishing", "listening", "asked", "registered"] as const) registrations.set(state);
  // The registrar that comes next finds True, and is not registered yet.
  await using next = await startFixture(certificate, PATIENT, (other) =>
    other.setConditions(server.node?.status.conditions ?? []),
  );
  await eventually(() => expect(next.server.watches).toBe(1));
  expect(patches(next.server.requests)).toBe(0);
  expect(patches(server.requests)).toBe(1);
});

test("a registrar that stands by leaves the condition to the one that holds the registration", async () => {
  await using fixture = await startFixture(certificate, { ...QUICK, conditionDelayMs: 0 });
  const { server, registrations, log } = fixture;
  registrations.set("standby");
  const before = patches(server.requests);
  server.setConditions([{ type: TYPE, status: "True", reason: "Registered" }]);
  await eventually(() => expect(server.watches).toBe(1));
  registrations.set("stopping");
  expect(patches(server.requests)).toBe(before);
  registrations.set("listening");
  await eventually(() => expect(server.node?.status.conditions).toMatchObject([{ status: "False" }]));
  await log.when("Node condition set");
});

test("two registrars that say different things of one driver do not overwrite each other without a pause", async () => {
  const FOUGHT = "Node condition is changed by somebody else again and again, writing it less often";
  await using one = await startFixture(certificate, { ...QUICK, conditionDelayMs: 0 });
  const { server } = one;
  server.listed = [DRIVER];
  one.registrations.set("registered");
  await one.log.when("Node condition set");
  const log = recordLog();
  await using _other = startNodeReadiness(
    createRegistrations(),
    { nodeName: NODE_NAME, access: server.access, condition: TYPE, conditionDelayMs: 0 },
    { logger: log.logger },
  );
  await Promise.race([one.log.when(FOUGHT), log.when(FOUGHT)]);
  // The first write of each, what each may write again at once, and one more of the one that warns.
  expect(patches(server.requests)).toBeLessThanOrEqual(2 * (1 + 3) + 1);
});

test("somebody takes it away: it is written again", async () => {
  await using fixture = await startFixture(certificate, PATIENT);
  const { server, registrations, log } = fixture;
  server.listed = [DRIVER];
  registrations.set("registered");
  await log.when("Node condition set");
  await eventually(() => expect(server.watches).toBe(1));
  server.setConditions([{ type: "Ready", status: "True" }]);
  await log.when("Node condition set", 2);
  expect(server.node?.status.conditions).toMatchObject([{ type: "Ready" }, { type: TYPE, status: "True" }]);
});

test("with {driver} each driver has its own, and one that is gone is said to be gone", async () => {
  await using fixture = await startFixture(certificate, {
    condition: "{driver}/Registered",
    conditionDelayMs: 0,
    severalDrivers: true,
  });
  const { server, registrations } = fixture;
  const [one, two] = ["one.csi.example.com", "two.csi.example.com"];
  server.listed = [one, two];
  registrations.remove(DRIVER);
  registrations.set("registered", one);
  registrations.set("registered", two);
  const statusOf = (driver: string) =>
    server.node?.status.conditions.find(({ type }) => type === `${driver}/Registered`);
  await eventually(() => {
    expect(statusOf(one)).toMatchObject({ status: "True" });
    expect(statusOf(two)).toMatchObject({ status: "True" });
  });
  registrations.remove(one);
  await eventually(() => expect(statusOf(one)).toMatchObject({ status: "False", reason: "DriverGone" }));
  expect(statusOf(two)).toMatchObject({ status: "True" });
});

test("a status that may not be written is told, and the taints do not wait for it", async () => {
  const taint = { key: "a/b", effect: "NoSchedule" };
  await using fixture = await startFixture(certificate, { ...PATIENT, startupTaints: ["a/b"] }, (server) => {
    server.setTaints([taint]);
    server.listed = [DRIVER];
    server.script = ({ kind }) =>
      kind === "patch-status" ? { kind: "status", code: 403, message: "forbidden" } : undefined;
  });
  const { registrations, log, readiness } = fixture;
  registrations.set("registered");
  await log.when("Startup taint removed");
  await eventually(() => expect(readiness.status().api.trouble?.doing).toBe("setting the node's condition"));
  const [warning] = log.records.filter(({ severity }) => severity === "warning");
  expect(warning?.fields.check).toContain('{apiGroups: [""], resources: [nodes/status], verbs: [patch]}');
});
