import { refusedFor } from "../../../src/registrar/model/outcome";
import {
  type LoopEvent,
  type RegistrationState,
  STATE_NAMES,
  type StateName,
  type StateOf,
  stateNameOf,
} from "../../../src/registrar/model/state";
import { judgeInPlace } from "../../../src/registrar/registration/decisions";
import { isRepetition } from "../../../src/registrar/registration/loop";
import { isStateChange, transition } from "../../../src/registrar/registration/transition";
import { EVENT_KINDS, eventOf, facts, leadsTo, stateNamed } from "../../support/registration-states";

const P = "publishing";
const L = "listening";
const Q = "asked";
const R = "registered";
const F = "refused";
const S = "standby";
const X = "stopping";
const E = "stopped";
const _ = undefined;

/** Where each event leads from each state; `_` is nowhere. */
// biome-ignore format: a table
const TABLE: { readonly [Kind in LoopEvent["kind"]]: readonly (StateName | undefined)[] } = {
  //                   waiting publishing listening asked registered refused standby stopping stopped
  "driver-named":       [P, _, _, _, _, _, _, _, _],
  "driver-renamed":     [_, P, P, P, P, P, P, _, _],
  "driver-restarted":   [_, _, P, P, P, P, _, _, _],
  published:            [_, L, _, _, _, _, _, _, _],
  "well-placed":        [_, _, _, _, _, _, _, _, _],
  misplaced:            [_, _, P, P, _, _, _, _, _],
  "socket-gone":        [_, _, P, P, P, _, _, _, _],
  "directory-gone":     [_, _, P, P, P, _, _, _, _],
  "socket-dead":        [_, _, P, P, P, _, _, _, _],
  "socket-taken":       [_, S, S, S, S, _, _, _, _],
  "kubelet-silent":     [_, _, P, _, _, _, _, _, _],
  "status-lost":        [_, _, P, P, P, _, _, _, _],
  "get-info":           [_, _, Q, _, _, _, _, _, _],
  accepted:             [_, _, R, R, _, _, _, _, _],
  refused:              [_, _, F, F, F, _, _, _, _],
  "already-registered": [_, _, S, S, S, _, _, _, _],
  retry:                [_, _, _, _, _, P, _, _, _],
  "peer-gone":          [_, _, _, _, _, _, P, _, _],
  reregister:           [_, _, _, _, P, _, _, _, _],
  stop:                 [X, X, X, X, X, X, X, _, _],
  closed:               [_, _, _, _, _, _, _, E, _],
};

test("the table has every event and every state", () => {
  expect(Object.keys(TABLE).sort()).toEqual([...EVENT_KINDS].sort());
  for (const targets of Object.values(TABLE)) expect(targets).toHaveLength(STATE_NAMES.length);
});

test.each(EVENT_KINDS)("%s", (kind) => {
  expect(STATE_NAMES.map((name) => leadsTo(name, kind))).toEqual(TABLE[kind]);
});

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

/** What changes there is when kubelet asked, or that we have looked at the other sockets. */
const SILENT = ["registered get-info", "listening well-placed", "asked well-placed"];

test("an event without news returns the same state object", () => {
  for (const name of STATE_NAMES)
    for (const kind of EVENT_KINDS.filter((kind) => leadsTo(name, kind) === undefined)) {
      const state = stateNamed(name);
      const isSame = transition(state, eventOf(kind), now) === state;
      expect([name, kind, isSame]).toEqual([name, kind, !SILENT.includes(`${name} ${kind}`)]);
    }
});

test("a state changes with its name, and when it publishes again", () => {
  const isChange = (from: StateName, to: StateName) => isStateChange(stateNamed(from), stateNamed(to));
  expect(isChange("listening", "asked")).toBe(true);
  expect(isChange("publishing", "listening")).toBe(true);
  expect(isChange("publishing", "publishing")).toBe(true);
  expect(isChange("registered", "registered")).toBe(false);
});

describe("right after a publication", () => {
  const listening = stateNamed("listening");
  test("a socket that belongs elsewhere is published again as it was before, also once kubelet has asked", () => {
    const { justPublished } = listening;
    expect(reached(listening, { kind: "misplaced" })).toBe(justPublished);
    expect(reached(listening, getInfo, { kind: "misplaced" })).toBe(justPublished);
  });

  test.each([{ kind: "well-placed" }, accepted] as const)("it stays after %j", (event) => {
    const settled = reached(listening, event);
    expect(settled).toMatchObject({ kind: "in-place", justPublished: undefined });
    expect(reached(settled, { kind: "misplaced" })).toBe(settled);
  });
});

describe("what is known of the driver", () => {
  test("is its name at first; then that it was registered, as soon as it was", () => {
    const state = reached(stateNamed("waiting"), { kind: "driver-named", driverName: "x.csi" });
    const known = { ...facts, everPublished: false };
    expect(state).toEqual({ kind: "publishing", reason: "driver-named", facts: known });
    const registered = reached(stateNamed("asked"), accepted);
    expect(registered).toMatchObject({ facts: { ...facts, backoff: "none" } });
  });

  test("keeps under another name what does not depend on the name", () => {
    const movedFrom = { alias: undefined };
    const before = { ...facts, alias: "x.csi-_abc", movedFrom, backoff: "none", lostStatuses: 2 } as const;
    const state = { ...stateNamed("listening"), facts: before };
    const known = { ...facts, driverName: "y.csi" };
    expect(reached(state, { kind: "driver-renamed", driverName: "y.csi" })).toMatchObject({ facts: known });
  });
});

describe("what is known of the socket", () => {
  const first: RegistrationState = {
    kind: "publishing",
    facts: { ...facts, everPublished: false },
    reason: "driver-named",
  };

  test("counts kubelet as backing off from its path until it registers the driver there", () => {
    for (const found of ["dead", "gone"] as const)
      expect(reached(first, published(found))).toMatchObject({
        facts: { backoff: "possible", everPublished: true },
      });
    expect(reached(stateNamed("asked"), accepted)).toMatchObject({ facts: { backoff: "none" } });
    expect(reached(stateNamed("asked"), refused("no"))).toMatchObject({ facts: { backoff: "possible" } });
  });

  test("an alias is kept when the socket is published again, and in standby", () => {
    const alias = "x.csi-_abc";
    const gone = reached(first, published("gone", alias), { kind: "socket-gone" });
    expect(gone).toMatchObject({ kind: "publishing", reason: "socket-gone", facts: { alias } });
    const standby = reached(first, { kind: "socket-taken", alias });
    expect(standby).toMatchObject({ kind: "standby", reason: "socket-taken", facts: { alias } });
    expect(standby.facts?.backoff).toBe("possible");
    const other = reached(standby, { kind: "peer-gone", alias: "x.csi-_abd" });
    expect(other).toMatchObject({ reason: "peer-gone", facts: { alias: "x.csi-_abd" } });
  });

  test("it moves away from kubelet's backoff once", () => {
    const moved = reached(stateNamed("listening"), { kind: "kubelet-silent", alias: "x.csi-_abc" });
    expect(moved).toMatchObject({ kind: "publishing", facts: { alias: "x.csi-_abc", backoff: "none" } });
    const stays = reached(stateNamed("listening"), { kind: "kubelet-silent", alias: undefined });
    expect(stays).toEqual({ ...stateNamed("listening"), facts: { ...facts, backoff: "none" } });
  });

  describe("goes back once when kubelet has the driver already", () => {
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
});

describe("while kubelet is between GetInfo and its registration status", () => {
  const restarted = { kind: "driver-restarted" } as const;

  test("a driver that restarted is remembered, and kept over the status", () => {
    const asked = reached(stateNamed("listening"), getInfo, restarted);
    expect(asked).toMatchObject({ registered: false, askedAtMs: 5_000, again: "driver-restarted" });
    expect(reached(asked, accepted)).toMatchObject({ registered: true, again: "driver-restarted" });
  });

  test("registers the driver again after the status; at another time at once", () => {
    const asked = reached(stateNamed("registered"), getInfo, restarted);
    expect(asked).toMatchObject({ registered: true, askedAtMs: 5_000, again: "driver-restarted" });
    const due = reached(asked, accepted);
    expect(due).toMatchObject({ askedAtMs: undefined, again: "driver-restarted" });
    for (const event of [restarted, { kind: "reregister" } as const]) expect(reached(due, event)).toBe(due);
    const anew = { kind: "publishing", reason: "driver-restarted" };
    expect(reached(stateNamed("registered"), restarted)).toMatchObject(anew);
  });

  test("a granted reregister() is kept over the status", () => {
    const asked = reached(stateNamed("registered"), getInfo, { kind: "reregister" });
    expect(asked).toMatchObject({ registered: true, askedAtMs: 5_000, again: "reregister" });
    const due = { kind: "reregister", kubeletIsIdle: true } as const;
    expect(reached(asked, accepted, due)).toMatchObject({ kind: "publishing", reason: "reregister" });
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

  test("a second GetInfo puts off nothing", () => {
    for (const asked of [stateNamed("asked"), { ...stateNamed("registered"), askedAtMs: 1_000 }])
      expect(transition(asked, getInfo, { nowMs: 9_000, random: 0 })).toBe(asked);
  });
});

describe("refusals", () => {
  const round = [retry, published("gone"), getInfo] as const;

  test("are counted, and how often the same text came again, until kubelet accepts the driver", () => {
    const twice = reached(stateNamed("asked"), refused("a"), ...round, refused("a"));
    expect(twice).toMatchObject({ facts: { refusals: { text: "a", count: 2, repeats: 1 } } });
    const other = reached(twice, ...round, refused("b"));
    expect(other).toMatchObject({ facts: { refusals: { text: "b", count: 3, repeats: 0 } } });
    const anew = reached(twice, ...round, accepted, refused("a"));
    expect(anew).toMatchObject({ facts: { refusals: { count: 1, repeats: 0 } } });
  });

  test("are followed by a wait that depends on their count and on chance", () => {
    const again = reached(stateNamed("asked"), refused("a"), ...round);
    for (const text of ["a", "b"])
      expect(transition(again, refused(text), { nowMs: 0, random: 1 })).toMatchObject({ waitMs: 3_200 });
  });

  test("lead to another name", () => {
    const state = reached(stateNamed("asked"), refused("a"), retry);
    const facts = { alias: "x.csi-_abd", backoff: "none" };
    expect(state).toMatchObject({ kind: "publishing", facts, reason: "retry" });
  });

  test("leave kubelet backing off from the path, to which a driver that restarts brings it back", () => {
    const state = reached(stateNamed("asked"), refused("a"), eventOf("driver-restarted"), published("gone"));
    expect(state).toMatchObject({ facts: { alias: undefined, backoff: "possible" } });
    const kubelet = { isAsking: false, isKnown: true, endedAtMs: 0 };
    const look = { found: "ours", hasDirectory: true, nowMs: 9_000, sinceMs: 0, random: 0, kubelet } as const;
    expect(judgeInPlace(state as StateOf<"in-place">, look)).toMatchObject({ kind: "kubelet-silent" });
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
