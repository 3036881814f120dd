import { MAX_CONDITIONS } from "../../src/node-readiness/condition";
import { createConditionKeeper } from "../../src/node-readiness/condition-keeper";
import { createNodeStore } from "../../src/node-readiness/node-watch";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { recordLog } from "../support/recorded-log";
import { DRIVER, registrationIn } from "./support/controlled-registrations";

const TYPE = `${DRIVER}/Registered`;
const FOUGHT = "Node condition is changed by somebody else again and again, writing it less often";
const MINUTE_MS = 60_000;

/** A keeper whose time a test moves, beside a Node that others may write too. */
function createPlay({ delayMs = 0 } = {}) {
  const log = recordLog();
  const keeper = createConditionKeeper(
    { type: "{driver}/Registered", delayMs },
    { log: log.logger, random: () => 0 },
  );
  const store = createNodeStore(() => {});
  let revision = 0;
  const write = (uid: string, condition?: { readonly status: string; readonly reason: string }) => {
    revision += 1;
    store.see({
      uid,
      resourceVersion: `${revision}`,
      taints: [],
      conditions: condition ? [{ type: TYPE, ...condition }] : [],
    });
  };
  write("1");
  const play = {
    log,
    store,
    now: 1_000_000,
    /** When the keeper wrote, and what. */
    writes: [] as { readonly at: number; readonly said: string }[],
    csiNodeReads: 0,
    uid: "1",
    /** What somebody else writes when the keeper has written. */
    opponent: undefined as { readonly status: string; readonly reason: string } | undefined,
    registrations: [] as readonly ObservedRegistration[],
    somebodyWrites: (condition: { readonly status: string; readonly reason: string } | undefined) =>
      write(play.uid, condition),
    status: () => keeper.status(play.registrations, { store }),
    said: () => store.node?.conditions.map(({ status, reason }) => `${status} ${reason}`),
    pass: async () => {
      const outcome = await keeper.pass(play.registrations, {
        api: {
          patchStatus: async (patch: {
            readonly status: {
              readonly conditions: readonly [{ status: string; reason: string; $patch?: "delete" }];
            };
          }) => {
            const [condition] = patch.status.conditions;
            const { status, reason, $patch = `${status} ${reason}` } = condition;
            play.writes.push({ at: play.now, said: $patch });
            write(play.uid, $patch === "delete" ? undefined : condition);
            const value = store.node;
            if (play.opponent) write(play.uid, play.opponent);
            return { kind: "done", value };
          },
        } as never,
        store,
        signal: new AbortController().signal,
        now: play.now,
        listedDrivers: async () => {
          play.csiNodeReads += 1;
          return { kind: "done", value: [DRIVER] };
        },
      });
      return outcome.kind === "settled" ? outcome.againInMs : undefined;
    },
    /** A look each second, as somebody changes the Node all the time. */
    spend: async (ms: number) => {
      for (const end = play.now + ms; play.now < end; play.now += 1_000) await play.pass();
    },
  };
  return play;
}

const FALSE = { status: "False", reason: "NotRegistered" };

test("what somebody else changes back is written three times at once, then with pauses that grow to minutes", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("registered")];
  play.opponent = FALSE;
  await play.spend(60 * MINUTE_MS);
  const pauses = play.writes.slice(1).map(({ at }, index) => (at - (play.writes[index]?.at ?? 0)) / 1_000);
  expect(pauses.slice(0, 13)).toEqual([1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
  expect(play.writes.length).toBeLessThan(25);
  expect(play.log.all(FOUGHT)).toMatchObject([{ severity: "warning", fields: { condition: TYPE } }]);
  // While it waits it asks nothing either.
  expect(play.csiNodeReads).toBe(play.writes.length);
});

test("while it waits it says when it goes on, and does so", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("registered")];
  play.opponent = FALSE;
  for (const _ of [1, 2, 3, 4]) await play.pass();
  expect(play.writes).toHaveLength(4);
  expect(await play.pass()).toBe(1_000);
  play.now += 1_000;
  play.opponent = undefined;
  await play.pass();
  expect(play.said()).toEqual(["True Registered"]);
});

test("what changes by itself is written at once, however often the same was changed back before", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("registered")];
  play.opponent = FALSE;
  await play.spend(20_000);
  const before = play.writes.length;
  play.opponent = undefined;
  play.registrations = [registrationIn("refused")];
  await play.pass();
  expect(play.writes).toHaveLength(before + 1);
  expect(play.said()).toEqual(["False Refused"]);
});

test("after ten minutes of peace it answers at once again", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("registered")];
  play.opponent = FALSE;
  await play.spend(20_000);
  play.opponent = undefined;
  await play.spend(20 * MINUTE_MS);
  expect(play.said()).toEqual(["True Registered"]);
  play.somebodyWrites(undefined);
  expect(await play.pass()).toBeUndefined();
  expect(play.said()).toEqual(["True Registered"]);
});

test("a Node that is made anew gets its condition at once", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("registered")];
  for (const uid of ["2", "3", "4", "5", "6", "7"]) {
    play.uid = uid;
    play.somebodyWrites(undefined);
    await play.pass();
    expect(play.said()).toEqual(["True Registered"]);
  }
  expect(play.log.all(FOUGHT)).toEqual([]);
});

test("a wait for another's peace does not shorten the delay before False", async () => {
  const play = createPlay({ delayMs: 10_000 });
  play.registrations = [registrationIn("registered")];
  play.opponent = FALSE;
  for (const _ of [1, 2, 3, 4]) await play.pass();
  play.registrations = [registrationIn("asked")];
  await play.pass();
  play.registrations = [registrationIn("registered")];
  await play.pass();
  play.now += 10_000;
  play.opponent = undefined;
  play.registrations = [registrationIn("refused")];
  expect(await play.pass()).toBe(10_000);
});

test("gone is said only of a driver that was registered here", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("standby")];
  await play.pass();
  play.registrations = [];
  await play.pass();
  play.registrations = [registrationIn("listening", "other.csi.example.com")];
  await play.pass();
  play.registrations = [];
  await play.pass();
  expect(play.writes.map(({ said }) => said)).toEqual(["False NotRegistered"]);

  play.registrations = [registrationIn("registered")];
  await play.pass();
  play.registrations = [];
  await play.pass();
  expect(play.said()).toEqual(["False DriverGone"]);
});

test("the condition of a driver that has been gone for an hour is removed, and not written again", async () => {
  const play = createPlay();
  play.registrations = [registrationIn("registered")];
  await play.pass();
  play.registrations = [];
  await play.pass();
  expect(await play.pass()).toBe(60 * MINUTE_MS);
  await play.spend(3 * 60 * MINUTE_MS);
  expect(play.writes.map(({ said }) => said)).toEqual(["True Registered", "False DriverGone", "delete"]);
  expect(play.log.all("Node condition removed, its driver is gone for good")).toHaveLength(1);
  play.registrations = [registrationIn("registered")];
  await play.pass();
  expect(play.said()).toEqual(["True Registered"]);
});

test("drivers under ever new names get so many conditions, and one warning", async () => {
  const play = createPlay();
  const nameOf = (at: number) => `d${at}.csi.example.com`;
  play.registrations = Array.from({ length: 100 }, (_, at) => registrationIn("listening", nameOf(at)));
  await play.pass();
  await play.pass();
  expect(play.writes.length).toBeLessThanOrEqual(2 * MAX_CONDITIONS);
  expect(play.status().map(({ type }) => type)).toContain(`${nameOf(0)}/Registered`);
  expect(play.status()).toHaveLength(MAX_CONDITIONS);
  expect(
    play.log.all("Node has as many conditions of drivers as it gets, more drivers get none"),
  ).toHaveLength(1);
});

test("a driver whose name is not to be registered here, or not known yet, gets no condition", async () => {
  const play = createPlay();
  play.registrations = [{ ...registrationIn("waiting"), driverName: undefined }];
  await play.pass();
  expect(play.writes).toEqual([]);
});

test("a driver that another registrar took over is not said to be gone when it leaves this one's folders", async () => {
  const play = createPlay();
  for (const state of ["registered", "listening", "standby"] as const) {
    play.registrations = [registrationIn(state)];
    await play.pass();
  }
  play.registrations = [];
  const before = play.writes.length;
  await play.pass();
  expect(play.writes).toHaveLength(before);
});

test.each([
  ["stopped", "registered"],
  ["stopping", "registered"],
  ["registered", "stopped"],
] as const)(
  "of two registrations with one name, %s and %s, the one that is not over is judged",
  async (...states) => {
    const play = createPlay();
    play.registrations = states.map((state) => registrationIn(state));
    await play.pass();
    expect(play.said()).toEqual(["True Registered"]);
  },
);
