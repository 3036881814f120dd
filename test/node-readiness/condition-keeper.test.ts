import { MAX_CONDITIONS } from "../../src/node-readiness/condition";
import { createConditionKeeper } from "../../src/node-readiness/condition-keeper";
import { done, type NodeCondition } from "../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { csiNodeOf, DRIVER, registrationIn } from "./support/controlled-registrations";
import { createKeeperPlay } from "./support/keeper-play";

const TYPE = `${DRIVER}/Registered`;
const FOUGHT = "Another client keeps changing the node condition, writing it less often";
const MINUTE_MS = 60_000;
const FALSE = { status: "False", reason: "NotRegistered" };

type Said = Readonly<Record<"status" | "reason", string>>;
type Written = Said & { readonly type: string; readonly $patch?: "delete" };

/** A keeper whose time a test moves, beside a Node that another client may write too. */
function createPlay({ delayMs = 0, opponent }: { delayMs?: number; opponent?: Said } = {}) {
  let revision = 0;
  const write = (condition?: Said) => {
    revision += 1;
    const conditions = [...(condition ? [{ type: TYPE, ...condition }] : []), ...play.others];
    base.store.see({ uid: play.uid, resourceVersion: `${revision}`, taints: [], conditions });
  };
  const patchStatus = async (patch: { status: { conditions: [Written] } }) => {
    const [condition] = patch.status.conditions;
    const { status, reason, type, $patch = `${status} ${reason}` } = condition;
    play.writes.push({ at: base.now, said: $patch, type });
    write($patch === "delete" ? undefined : condition);
    const value = base.store.node;
    if (play.opponent) write(play.opponent);
    return done(value);
  };
  const base = createKeeperPlay(
    (log) => createConditionKeeper("{driver}/Registered", delayMs, log, () => 0),
    { patchStatus },
  );
  const play = Object.assign(base, {
    write,
    writes: [] as { readonly at: number; readonly said: string; readonly type: string }[],
    uid: "1",
    /** What another client writes when the keeper has written. */
    opponent,
    others: [] as readonly NodeCondition[],
    said: () => base.store.node?.conditions.map(({ status, reason }) => `${status} ${reason}`),
    turn: (...states: readonly ObservedRegistration["state"][]) => {
      base.registrations = states.map((state) => registrationIn(state));
      return base.pass();
    },
    /** A pass each second, as if the Node changed all the time. */
    spend: async (ms: number) => {
      for (const end = base.now + ms; base.now < end; base.now += 1_000) await base.pass();
    },
  });
  write();
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
  // A new value is written at once.
  play.opponent = undefined;
  await play.turn("refused");
  expect(play.said()).toEqual(["False Refused"]);
});

test("a refusal is one write, however often the registrar tries again", async () => {
  const play = createPlay();
  for (const state of ["refused", "publishing", "listening", "asked", "refused", "publishing"] as const) {
    play.registrations = [{ ...registrationIn(state), refusal: "topology clash" }];
    await play.pass();
  }
  expect(play.writes).toMatchObject([{ said: "False Refused" }]);
  await play.turn("registered");
  expect(play.said()).toEqual(["True Registered"]);
});

test("a Node that is created again gets its condition at once", async () => {
  const play = createPlay();
  for (play.uid of ["2", "3", "4", "5", "6", "7"]) {
    play.write(undefined);
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

test("only a driver that was registered here is said to be gone", async () => {
  const play = createPlay();
  await play.turn("standby");
  await play.turn();
  play.registrations = [registrationIn("listening", "other.csi.example.com")];
  await play.pass();
  await play.turn();
  expect(play.writes.map(({ said }) => said)).toEqual(["False NotRegistered"]);

  await play.turn("registered");
  await play.turn();
  expect(play.said()).toEqual(["False DriverGone"]);
});

test("the condition of a driver that has been gone for an hour is removed, and not written again", async () => {
  const play = createPlay();
  await play.turn("registered");
  await play.turn();
  expect(await play.pass()).toBe(60 * MINUTE_MS);
  await play.spend(3 * 60 * MINUTE_MS);
  expect(play.writes.map(({ said }) => said)).toEqual(["True Registered", "False DriverGone", "delete"]);
  expect(play.log.all("Node condition removed, its driver is gone")).toHaveLength(1);
  await play.turn("registered");
  expect(play.said()).toEqual(["True Registered"]);
});

test.each<[string, year: number, turns: "registered"[][], written: string[]]>([
  ["another registrar's", 2026, [["registered"]], ["delete d30.x/Registered"]],
  ["not written again", 2099, [[], []], [`False DriverGone ${TYPE}`, `delete ${TYPE}`]],
])(
  "where there are too many conditions the oldest one of a driver that is gone goes at once: %s",
  async (_what, year, turns, written) => {
    const play = createPlay();
    await play.turn("registered");
    play.others = Array.from({ length: MAX_CONDITIONS }, (_, at) => ({
      ...{ type: `d${at}.x/Registered`, status: "False", reason: "DriverGone" },
      lastHeartbeatTime: `${year}-01-01T00:00:${String((at + 30) % 60).padStart(2, "0")}Z`,
    }));
    play.write({ status: "True", reason: "Registered" });
    for (const turn of turns) expect(await play.turn(...turn)).toBe(60 * MINUTE_MS);
    expect(play.writes.slice(1).map(({ said, type }) => `${said} ${type}`)).toEqual(written);
  },
);

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
  expect(play.writes.length).toBeLessThanOrEqual(2 * MAX_CONDITIONS);
  expect(play.status().map(({ type }) => type)).toContain(`${nameOf(0)}/Registered`);
  expect(play.status()).toHaveLength(MAX_CONDITIONS);
  expect(play.log.all("Limit of 64 driver conditions reached, further drivers get none")).toHaveLength(1);
});

test("a driver that another registrar took over is not said to be gone when it leaves this one's folders", async () => {
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
  "of two registrations with one name, %s and %s, the one that goes on is judged",
  async (...states) => {
    const play = createPlay();
    await play.turn(...states);
    expect(play.said()).toEqual(["True Registered"]);
  },
);

test("a driver that CSINode lost is told after the delay, from what was read last; one that is back at once", async () => {
  const play = createPlay({ delayMs: 30_000 });
  await play.pass();
  expect(play.said()).toEqual(["True Registered"]);
  play.lists();
  await play.csiNode.read({ getCsiNode: async () => done(csiNodeOf([])) }, new AbortController().signal);
  await play.spend(30_000);
  expect(play.said()).toEqual(["True Registered"]);
  await play.spend(2_000);
  expect(play.said()).toEqual(["False NotInCSINode"]);
  // CSINode is not watched.
  expect(await play.pass()).toBe(10_000);
  play.lists(DRIVER);
  await play.pass();
  expect(play.said()).toEqual(["True Registered"]);
});
