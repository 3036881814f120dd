import { MAX_CONDITIONS } from "../../src/node-readiness/condition";
import { createConditionKeeper } from "../../src/node-readiness/condition-keeper";
import { done, type NodeCondition } from "../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { DRIVER, nodeWith, registrationIn } from "./support/controlled-registrations";
import { createKeeperPlay } from "./support/keeper-play";

const TYPE = `${DRIVER}/Registered`;
const FOUGHT = "Another client keeps changing the node condition, writing it less often";
const MINUTE_MS = 60_000;
const FALSE = { status: "False", reason: "NotRegistered" };

type Said = Readonly<Record<"status" | "reason", string>>;

/** A keeper whose time a test moves, beside a Node that another client may write too. */
function createPlay({ delayMs = 0, opponent }: { delayMs?: number; opponent?: Said } = {}) {
  let revision = 0;
  const conditions = new Map<string, NodeCondition>();
  const write = (condition: Partial<NodeCondition> & Said) => {
    revision += 1;
    const { type = TYPE } = condition;
    conditions.set(type, { type, ...condition });
    const view = { uid: play.uid, resourceVersion: `${revision}`, conditions: [...conditions.values()] };
    base.see(nodeWith(view));
  };
  const patchStatus = async (patch: { status: { conditions: [NodeCondition & Said] } }) => {
    const [condition] = patch.status.conditions;
    play.writes.push({ at: base.now, said: `${condition.status} ${condition.reason}` });
    write(condition);
    const value = base.node;
    if (play.opponent) write(play.opponent);
    return done(value);
  };
  const base = createKeeperPlay(
    (log) => createConditionKeeper("{driver}/Registered", delayMs, log, () => 0),
    { patchStatus },
  );
  const play = Object.assign(base, {
    writes: [] as { readonly at: number; readonly said: string }[],
    uid: "1",
    /** Makes a Node without conditions. */
    create: (uid: string) => {
      play.uid = uid;
      conditions.clear();
      base.see(nodeWith({ uid, resourceVersion: "0" }));
    },
    /** What another client writes when the keeper has written. */
    opponent,
    said: () => base.node?.conditions.map(({ status, reason }) => `${status} ${reason}`),
    turn: (...states: readonly ObservedRegistration["state"][]) => {
      base.registrations = states.map((state) => registrationIn(state));
      return base.pass();
    },
    /** A pass each second, as if the Node changed all the time. */
    spend: async (ms: number) => {
      for (const end = base.now + ms; base.now < end; base.now += 1_000) await base.pass();
    },
  });
  play.create("1");
  return play;
}

test("a condition that another client changes back is written three times at once, then with pauses up to minutes", async () => {
  const play = createPlay({ opponent: FALSE });
  await play.spend(60 * MINUTE_MS);
  const pauses = play.writes.slice(1).map(({ at }, index) => (at - (play.writes[index]?.at ?? 0)) / 1_000);
  expect(pauses.slice(0, 13)).toEqual([1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
  expect(play.log.all(FOUGHT)).toMatchObject([{ severity: "warning", fields: { condition: TYPE } }]);
  // While it waits it says how long, and asks nothing.
  expect(play.reads).toBe(play.writes.length);
  expect(await play.pass()).toBeGreaterThan(0);
  // A pass that comes late leaves the pauses as they are.
  play.now += 301_000;
  await play.pass();
  const late = play.writes.length;
  await play.spend(MINUTE_MS);
  expect(play.writes).toHaveLength(late);
  // A new value is written at once.
  play.opponent = undefined;
  await play.turn("refused");
  expect(play.said()).toEqual(["False Refused"]);
  // Peace for more than twice the longest pause makes all pauses short again.
  play.now += 11 * MINUTE_MS;
  play.opponent = FALSE;
  const before = play.writes.length;
  await play.turn("registered");
  await play.spend(3_000);
  expect(play.writes.slice(before)).toHaveLength(4);
});

test("a refusal is written once, however often the registrar tries again", async () => {
  const play = createPlay();
  for (const state of ["refused", "publishing", "listening", "asked", "refused", "publishing"] as const) {
    play.registrations = [{ ...registrationIn(state), kubeletError: "topology clash" }];
    await play.pass();
  }
  expect(play.writes).toMatchObject([{ said: "False Refused" }]);
  await play.turn("registered");
  expect(play.said()).toEqual(["True Registered"]);
});

test("a Node that is created again gets its condition at once", async () => {
  const play = createPlay();
  for (const uid of ["2", "3", "4", "5", "6", "7"]) {
    play.create(uid);
    await play.pass();
    expect(play.said()).toEqual(["True Registered"]);
  }
  expect(play.log.all(FOUGHT)).toEqual([]);
});

test("a wait because of another client does not shorten the delay before False", async () => {
  const play = createPlay({ delayMs: 10_000, opponent: FALSE });
  for (const _ of [1, 2, 3, 4]) await play.pass();
  await play.turn("asked");
  await play.turn("registered");
  play.now += 10_000;
  play.opponent = undefined;
  expect(await play.turn("refused")).toBe(10_000);
});

test("DriverGone is written only for a driver that was registered here, and its return is written", async () => {
  const play = createPlay();
  await play.turn("standby");
  await play.turn();
  play.registrations = [registrationIn("listening", "other.csi.example.com")];
  await play.pass();
  await play.turn();
  expect(play.writes.map(({ said }) => said)).toEqual(["False NotRegistered"]);

  await play.turn("registered");
  await play.turn();
  expect(play.said()).toEqual(["False NotRegistered", "False DriverGone"]);
  expect(await play.pass()).toBeUndefined();
  await play.turn("registered");
  const said = ["False NotRegistered", "True Registered", "False DriverGone", "True Registered"];
  expect(play.writes.map((one) => one.said)).toEqual(said);
});

test("the number of conditions is limited, and a driver without a name gets none", async () => {
  const play = createPlay();
  const nameOf = (at: number) => `d${at}.csi.example.com`;
  const unnamed = { ...registrationIn("waiting"), driverName: undefined };
  play.registrations = [unnamed];
  await play.pass();
  expect(play.writes).toEqual([]);
  const named = Array.from({ length: 100 }, (_, at) => registrationIn("listening", nameOf(at)));
  play.registrations = [unnamed, ...named];
  await play.pass();
  await play.pass();
  const types = play.node?.conditions.map(({ type }) => type);
  expect(types).toEqual(Array.from({ length: MAX_CONDITIONS }, (_, at) => `${nameOf(at)}/Registered`));
  expect(play.log.all("Limit of 64 driver conditions reached, further drivers get none")).toHaveLength(1);
  // One that is there already is kept in step.
  play.registrations = [registrationIn("registered", nameOf(0)), registrationIn("registered", nameOf(99))];
  play.lists(nameOf(0), nameOf(99));
  await play.pass();
  const { reads } = play;
  await play.pass();
  expect(play.reads).toBe(reads);
  expect(play.node?.conditions.filter(({ status }) => status === "True")).toMatchObject([
    { type: `${nameOf(0)}/Registered` },
  ]);
});

test("DriverGone is not written for a driver that another registrar took over", async () => {
  const play = createPlay();
  for (const state of ["registered", "listening", "standby"] as const) await play.turn(state);
  const before = play.writes.length;
  await play.turn();
  expect(play.writes).toHaveLength(before);
});

test.each([
  ["stopped", "registered"],
  ["stopping", "registered"],
  ["standby", "registered"],
  ["registered", "stopped"],
] as const)(
  "of two registrations with one name, %s and %s, the one that lasts sets the condition",
  async (...states) => {
    const play = createPlay();
    await play.turn(...states);
    expect(play.said()).toEqual(["True Registered"]);
  },
);

test("what fails for one driver's condition is told although another's is written", async () => {
  const play = createPlay();
  play.answer = { kind: "failed", doing: "", failure: { kind: "forbidden", message: "no" } };
  play.registrations = [registrationIn("registered"), registrationIn("listening", "b.csi")];
  expect(await play.pass()).toBe(play.answer);
  expect(play.said()).toEqual(["False NotRegistered"]);
});

test("a driver that vanishes and comes back has the whole delay again", async () => {
  const play = createPlay({ delayMs: MINUTE_MS });
  expect(await play.turn("listening")).toBe(MINUTE_MS);
  play.now += MINUTE_MS / 2;
  await play.turn();
  expect(await play.turn("listening")).toBe(MINUTE_MS);
});

test("with several missing drivers the next pass comes when the first delay ends", async () => {
  const play = createPlay({ delayMs: MINUTE_MS });
  const [first, second] = [
    registrationIn("listening"),
    { ...registrationIn("listening"), driverName: "b.csi" },
  ];
  play.registrations = [second];
  expect(await play.pass()).toEqual(MINUTE_MS);
  play.now += 1_000;
  play.registrations = [first, second];
  expect(await play.pass()).toEqual(MINUTE_MS - 1_000);
});
