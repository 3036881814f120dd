import { isDeepStrictEqual } from "node:util";
import { refusedFor } from "../../../src/registrar/model/outcome";
import {
  type LoopEvent,
  type RegistrationState,
  type StateName,
  type StateOf,
  stateNameOf,
} from "../../../src/registrar/model/state";
import { judgeInPlace } from "../../../src/registrar/registration/decisions";
import { isRepetition } from "../../../src/registrar/registration/loop";
import { isStateChange, transition } from "../../../src/registrar/registration/transition";
import { EVENT_KINDS, eventOf, facts, stateNamed } from "../../support/registration-states";

const now = { nowMs: 5_000, random: 0 };
/** The state that results from events, one after the other. */
const reached = (state: RegistrationState, ...events: readonly LoopEvent[]) =>
  events.reduce((one, event) => transition(one, event, now), state);
const published = (found: "gone" | "dead", alias?: string): LoopEvent => ({
  kind: "published",
  socketPath: "/x-reg.sock",
  alias,
  found,
});
const getInfo = { kind: "get-info" } as const;
const accepted = { kind: "accepted" } as const;
const refused = (error: string) => ({ kind: "refused", error }) as const;
const retry = { kind: "retry", alias: "x.csi-_abd" } as const;

const aliased = { ...facts, alias: "x_1", lostStatuses: 2 };
const moved = { ...aliased, movedFrom: { alias: "x_0" }, backoff: "none" } as const;
const [publishing, listening, asked, registered] = [
  stateNamed("publishing"),
  stateNamed("listening"),
  stateNamed("asked"),
  stateNamed("registered"),
];
const refusals = { text: "no", count: 3, repeats: 1 };
const STATES: readonly (readonly [string, RegistrationState])[] = [
  ["waiting", stateNamed("waiting")],
  ["publishing", { ...publishing, facts: aliased }],
  ["publishing at first", { ...publishing, facts: { ...facts, everPublished: false } }],
  ["listening", { ...listening, facts: aliased }],
  ["listening after a look", { ...listening, facts: { ...aliased, refusals }, justPublished: undefined }],
  ["listening after a move", { ...listening, facts: moved }],
  ["listening after a move back", { ...listening, facts: { ...aliased, backoff: "refuted" } }],
  ["asked", { ...asked, facts: { ...aliased, backoff: "none", refusals } }],
  ["asked after a move back", { ...asked, facts: { ...aliased, backoff: "refuted" } }],
  ["asked, to be again", { ...asked, facts: aliased, again: "reregister" as const }],
  ["registered", { ...registered, facts: { ...facts, alias: "x_1", backoff: "none" } }],
  ["registered, asked", { ...registered, askedAtMs: 1_000 }],
  ["registered, asked, to be again", { ...registered, askedAtMs: 1_000, again: "driver-restarted" as const }],
  ["registered, to be again", { ...registered, again: "reregister" as const }],
  ["refused", { ...stateNamed("refused"), facts: { ...aliased, refusals } }],
  ["standby", { ...stateNamed("standby"), facts: { ...aliased, refusals } }],
  ["stopping", stateNamed("stopping")],
  ["stopping without a name", { ...stateNamed("stopping"), facts: undefined }],
  ["stopped", stateNamed("stopped")],
];
const EVENTS: readonly (readonly [string, LoopEvent])[] = [
  ...EVENT_KINDS.map((kind) => [kind, eventOf(kind)] as const),
  ["driver-restarted, kubelet may be busy", { kind: "driver-restarted" }],
  ["reregister, kubelet is idle", { kind: "reregister", kubeletIsIdle: true }],
  ["published at x_2", published("dead", "x_2")],
  ...(["socket-taken", "peer-gone", "retry", "kubelet-silent"] as const).map(
    (kind) => [`${kind} at x_2`, { kind, alias: "x_2" }] as const,
  ),
  ["kubelet-silent, no room", { kind: "kubelet-silent", alias: undefined }],
  ["refused otherwise", refused("other")],
  ["already-registered, final", { kind: "already-registered", error: "no", isFinal: true }],
];

/** What an event changes; undefined where it says nothing new. */
function changesBy(event: LoopEvent, state: RegistrationState): string | undefined {
  const next = transition(state, event, now);
  if (next === state) return undefined;
  const flat = ({ facts, ...rest }: RegistrationState) => ({ ...rest, ...facts });
  const before: Record<string, unknown> = flat(state);
  const changes = Object.entries(flat(next)).filter(([key, value]) => !isDeepStrictEqual(before[key], value));
  return changes
    .map(([key, value]) => {
      const isFormer = key === "justPublished" && value === state;
      return `${key} ${isFormer ? "as before" : JSON.stringify(value)?.replaceAll('"', "")}`;
    })
    .join(", ");
}

test.each(STATES)("what each event with news changes: %s", (_name, state) => {
  const all = EVENTS.map(([name, event]) => [name, changesBy(event, state)] as const);
  expect(Object.fromEntries(all.filter(([, changes]) => changes !== undefined))).toMatchSnapshot();
});

test("a state changes with its name, and when it publishes again", () => {
  const isChange = (from: StateName, to: StateName) => isStateChange(stateNamed(from), stateNamed(to));
  expect(isChange("listening", "asked")).toBe(true);
  expect(isChange("publishing", "listening")).toBe(true);
  expect(isChange("publishing", "publishing")).toBe(true);
  expect(isChange("registered", "registered")).toBe(false);
});

describe("goes back once to where it was before a move, when kubelet has the driver already", () => {
  const silent = (alias: string) => ({ kind: "kubelet-silent", alias }) as const;
  const has = (isFinal: boolean) => ({ kind: "already-registered", error: "no", isFinal }) as const;
  const moved = reached(stateNamed("listening"), silent("x.csi-_abc"), published("gone", "x.csi-_abc"));

  test.each([true, false])("final by the policy: %s", (isFinal) => {
    const back = reached(moved, has(isFinal));
    expect(back).toEqual({
      kind: "publishing",
      reason: "already-registered",
      facts: { ...facts, backoff: "refuted" },
    });
    const again = reached(back, published("gone"), has(isFinal));
    expect(again).toMatchObject({ kind: isFinal ? "refused" : "standby", facts: { alias: undefined } });
  });

  test("and takes the first refusal there, before a call, for the end of an earlier run's registration", () => {
    const back = reached(moved, has(true), published("gone"));
    const waiting = reached(back, refused("no"));
    expect(waiting).toEqual({ ...back, facts: { ...facts, backoff: "none" } });
    expect(reached(waiting, refused("no")).kind).toBe("refused");
    expect(reached(back, { kind: "get-info" }, refused("no")).kind).toBe("refused");
  });

  test("to where it was before all moves since kubelet's last status", () => {
    const lost: readonly LoopEvent[] = [
      { kind: "get-info" },
      { kind: "status-lost" },
      published("gone", "x.csi-_abc"),
      silent("x.csi-_abd"),
      published("gone", "x.csi-_abd"),
      has(true),
    ];
    expect(reached(moved, ...lost)).toMatchObject({ kind: "publishing", facts: { alias: undefined } });
  });

  test.each<[string, readonly LoopEvent[]]>([
    ["once kubelet has registered the driver", [accepted]],
    ["from the place of another registrar", [{ kind: "socket-taken", alias: "x.csi-_abc" }]],
  ])("not %s", (_what, events) => {
    const peerGone: LoopEvent = { kind: "peer-gone", alias: "x.csi-_abc" };
    const later = reached(moved, ...events, peerGone, published("gone", "x.csi-_abc"));
    expect(reached(later, has(true)).kind).toBe("refused");
  });
});

// Freezes that are hours apart must not each leave the driver unregistered for longer than the one before.
test("statuses that are lost are counted until one comes", () => {
  const round = [{ kind: "status-lost" }, published("gone"), getInfo] as const;
  const twice = reached(stateNamed("asked"), ...round, ...round);
  expect(twice).toMatchObject({ registered: false, facts: { lostStatuses: 2, backoff: "possible" } });
  for (const status of [accepted, refused("no")])
    expect(reached(twice, status)).toMatchObject({ facts: { lostStatuses: 0 } });
  const again = reached(stateNamed("registered"), getInfo, { kind: "status-lost" });
  expect(again).toMatchObject({ kind: "publishing", reason: "status-lost" });
});

describe("refusals", () => {
  const round = [retry, published("gone"), getInfo] as const;

  test("are followed by a wait that depends on their count and on chance", () => {
    const again = reached(stateNamed("asked"), refused("a"), ...round);
    for (const text of ["a", "b"])
      expect(transition(again, refused(text), { nowMs: 0, random: 1 })).toMatchObject({ waitMs: 3_200 });
  });

  test("leave kubelet backing off from the path, to which a driver that restarts brings it back", () => {
    const state = reached(stateNamed("asked"), refused("a"), eventOf("driver-restarted"), published("gone"));
    expect(state).toMatchObject({ facts: { alias: undefined, backoff: "possible" } });
    const kubelet = { isAsking: false, isKnown: true, endedAtMs: 0 };
    const look = { found: "ours", hasDirectory: true, nowMs: 9_000, sinceMs: 0, random: 0, kubelet } as const;
    expect(judgeInPlace(state as StateOf<"in-place">, look)).toMatchObject({ kind: "kubelet-silent" });
  });

  test("are no reason to hide what comes after them", () => {
    const events = [refused("a"), ...round, refused("a"), { kind: "socket-gone" } as const];
    let [state, isRepeated]: [RegistrationState, boolean] = [stateNamed("asked"), false];
    const repeated = events.map((event) => {
      state = transition(state, event, now);
      isRepeated = isRepetition(event, state, isRepeated);
      return isRepeated;
    });
    expect(repeated.slice(-2)).toEqual([true, false]);
  });

  test("with one text are one log line, and the tries between them none", () => {
    const told: string[] = [];
    let [state, isRepeated]: [RegistrationState, boolean] = [stateNamed("asked"), false];
    const events = [refused("a"), ...round, refused("a"), ...round, refused("b"), ...round, accepted];
    for (const event of [
      ...events,
      { kind: "socket-gone" } as const,
      published("gone"),
      getInfo,
      refused("b"),
    ]) {
      const next = transition(state, event, now);
      isRepeated = isRepetition(event, next, isRepeated);
      if (isStateChange(state, next) && !isRepeated) told.push(`${event.kind} ${stateNameOf(next)}`);
      state = next;
    }
    expect(told).toEqual([
      "refused refused",
      "refused refused",
      "accepted registered",
      "socket-gone publishing",
      "published listening",
      "get-info asked",
      "refused refused",
    ]);
  });
});

test("an outcome is handed from the stop to the end", () => {
  const outcome = refusedFor("no");
  const stopping = reached(stateNamed("refused"), { kind: "stop", outcome });
  expect(stopping).toMatchObject({ kind: "stopping", outcome, facts: { driverName: "x.csi" } });
  expect(reached(stopping, { kind: "closed", outcome })).toMatchObject({ kind: "stopped", outcome });
  const early = reached(stateNamed("waiting"), { kind: "stop", outcome });
  expect(early).toEqual({ kind: "stopping", outcome, facts: undefined });
});

test("a driver that kubelet registers anew stays registered meanwhile", () => {
  const asked = reached(stateNamed("registered"), getInfo);
  expect([asked, stateNameOf(asked)]).toMatchObject([{ askedAtMs: now.nowMs }, "registered"]);
});
