import { eventually } from "../support/eventually";
import { expectNothingLeft } from "../support/resources";
import { DRIVER } from "./support/controlled-registrations";
import { type Fixture, type FixtureOptions, startFixture } from "./support/fixture";
import type { ScriptedApiServer } from "./support/scripted-api-server";

const SET = "Node condition set";
const TYPE = `${DRIVER}/Registered`;
const QUICK = { condition: TYPE, conditionDelayMs: 50 };
const AT_ONCE = { condition: TYPE, conditionDelayMs: 0 };
const PATIENT = { condition: TYPE, conditionDelayMs: 3_600_000 };

const patches = (fixture: Fixture) => fixture.kinds().filter((kind) => kind === "patch-status").length;

/** Node readiness whose driver CSINode lists. */
const startListed = (options: FixtureOptions, prepare: (server: ScriptedApiServer) => void = () => {}) =>
  startFixture(options, (server) => {
    server.listed = [DRIVER];
    prepare(server);
  });

test("True at once when kubelet has registered the driver, False after the delay; one write each", () =>
  expectNothingLeft(async () => {
    await using fixture = await startListed(QUICK);
    const { server, registrations, log, readiness } = fixture;
    registrations.set("registered");
    expect((await log.when(SET)).fields).toMatchObject({ status: "True" });
    expect(server.node?.status.conditions).toMatchObject([{ type: TYPE, status: "True" }]);
    registrations.set("listening");
    const { fields } = await log.when(SET, 2);
    expect(fields).toMatchObject({ status: "False", reason: "NotRegistered" });
    registrations.set("refused");
    await log.when(SET, 3);
    expect(server.node?.status.conditions).toMatchObject([{ status: "False", reason: "Refused" }]);
    expect(patches(fixture)).toBe(3);
    expect(readiness.status().conditions).toMatchObject([{ type: TYPE, status: "False", writes: 3 }]);
  }));

test("nothing is written if the Node has the condition already, whatever else changes on the Node", async () => {
  await using fixture = await startListed(PATIENT, (server) =>
    server.setConditions([{ type: TYPE, status: "True", reason: "Registered" }]),
  );
  const { server, registrations } = fixture;
  await fixture.isWatching();
  registrations.set("registered");
  server.setTaints([{ key: "a", effect: "NoSchedule" }]);
  registrations.set("asked");
  registrations.set("registered");
  // Another client's change is the first that needs a write.
  server.setConditions([]);
  await fixture.log.when(SET);
  expect(patches(fixture)).toBe(1);
});

test("a rolling update or a kubelet restart does not flap it", async () => {
  await using fixture = await startListed(PATIENT);
  const { server, registrations, log } = fixture;
  registrations.set("registered");
  await log.when(SET);
  for (const state of ["publishing", "listening", "asked", "registered"] as const) registrations.set(state);
  // The next registrar finds True, and its driver is not registered yet.
  await using next = await startListed(PATIENT, (other) =>
    other.setConditions(server.node?.status.conditions ?? []),
  );
  await next.isWatching();
  expect(patches(next)).toBe(0);
  expect(patches(fixture)).toBe(1);
});

describe("the wall clock is set while a driver is not registered (issue 35)", () => {
  afterEach(() => jest.restoreAllMocks());

  /** A driver that was registered and is not any more; then the clock is set. */
  const play = async (fixture: Fixture, stepMs: number) => {
    const { registrations, log } = fixture;
    registrations.set("registered");
    await log.when(SET);
    registrations.set("listening");
    await new Promise(setImmediate); // The delay has begun.
    const now = Date.now;
    jest.spyOn(Date, "now").mockImplementation(() => now() + stepMs);
  };

  test("an hour back: False comes after the delay all the same", async () => {
    await using fixture = await startListed(QUICK);
    await play(fixture, -3_600_000);
    expect((await fixture.log.when(SET, 2)).fields).toMatchObject({ status: "False" });
  });

  test("two hours forward: the delay goes on", async () => {
    const other = "other.csi.example.com";
    await using fixture = await startListed({ ...PATIENT, condition: "{driver}/Registered" });
    await play(fixture, 7_200_000);
    fixture.server.listed = [DRIVER, other];
    fixture.registrations.set("registered", other);
    expect((await fixture.log.when(SET, 2)).fields).toMatchObject({ csiDriverName: other });
  });
});

test("a registrar that stands by leaves the condition to the one that holds the registration", async () => {
  await using fixture = await startListed(AT_ONCE);
  const { server, registrations, log, readiness } = fixture;
  await log.when(SET);
  registrations.set("standby");
  server.setConditions([{ type: TYPE, status: "True", reason: "Registered" }]);
  await eventually(() => expect(readiness.status().conditions).toMatchObject([{ status: "True" }]));
  registrations.set("listening");
  await log.when(SET, 2);
  expect(server.node?.status.conditions).toMatchObject([{ status: "False" }]);
  expect(patches(fixture)).toBe(2);
});

test("a status that may not be written is logged, and the taints do not wait for it", async () => {
  await using fixture = await startListed({ ...PATIENT, startupTaints: ["a/b"] }, (server) => {
    server.setTaints([{ key: "a/b", effect: "NoSchedule" }]);
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
