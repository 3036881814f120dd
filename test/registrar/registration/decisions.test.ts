import * as fc from "fast-check";
import { RegistrarError } from "../../../src/base/errors";
import { LONGEST_WAIT_MS } from "../../../src/base/pause";
import type { SocketOfDriver } from "../../../src/registrar/model/socket-name";
import type { DriverFacts, LoopEvent, StateName, StateOf } from "../../../src/registrar/model/state";
import {
  choosePlace,
  endsRegistration,
  infoAnswer,
  judgeInPlace,
  type Look,
  peerIsGone,
  placementEvent,
  planPublication,
  publicationEvent,
  refusalPauseMs,
  type SocketPlace,
  statusEvent,
  statusLostAfterMs,
} from "../../../src/registrar/registration/decisions";
import { transition } from "../../../src/registrar/registration/transition";
import type { PublishEnd } from "../../../src/unix/publish-steps";
import { mayBeOurs, type SocketFound } from "../../../src/unix/unix-socket";
import { propertyTest } from "../../support/fuzz";
import { facts, stateNamed } from "../../support/registration-states";

const OURS = { isWithdrawn: false, isOwn: true };

test.each([
  ["while kubelet may register the driver", "listening", OURS, { name: "x.csi" }],
  ["when kubelet asks again", "registered", OURS, { name: "x.csi" }],
  ["after a refusal, while its socket cannot be removed", "refused", OURS, "kubelet refused the driver"],
  [
    "over a socket that was published anew at its path",
    "registered",
    { ...OURS, isWithdrawn: true },
    "replaced",
  ],
  ["over the socket of another name", "listening", { ...OURS, isOwn: false }, "replaced"],
  ["before there is a name", "waiting", OURS, "replaced"],
  ["after an end before there was a name", { ...stateNamed("stopped"), facts: undefined }, OURS, "replaced"],
] as const)("what GetInfo gets %s", (_when, state, publication, expected) => {
  const answer = infoAnswer(typeof state === "string" ? stateNamed(state) : state, publication);
  expect(answer).toEqual(
    typeof expected === "string" ? { whyNot: expect.stringContaining(expected) } : expected,
  );
});

const atFirst = { kind: "publishing", facts: { ...facts, everPublished: false } } as const;
const publishing = stateNamed("publishing");

test.each<
  [string, StateOf<"publishing">, boolean, isNewName: 0 | 1, overLiving: 0 | 1, failureIsFatal: 0 | 1]
>([
  ["of a start", { ...atFirst, reason: "driver-named" }, false, 1, 1, 1],
  ["after standby", { ...atFirst, reason: "peer-gone" }, false, 1, 1, 0],
  ["of a node-wide registrar", { ...atFirst, reason: "driver-named" }, true, 1, 0, 0],
  ["after another", { ...publishing, reason: "socket-gone" }, false, 0, 0, 0],
  ["under a new name", { ...publishing, reason: "driver-renamed" }, false, 1, 1, 0],
])("what a publication %s may do", (_what, state, isNodeWide, ...expected) => {
  const { isNewName, overLiving, failureIsFatal } = planPublication(state, isNodeWide);
  expect([isNewName, overLiving, failureIsFatal].map(Number)).toEqual(expected);
});

test.each<[PublishEnd, LoopEvent | undefined]>([
  [{ kind: "taken" }, { kind: "socket-taken", alias: "x_1" }],
  [
    { kind: "in-place", found: "dead" },
    { kind: "published", alias: "x_1", socketPath: "/x-reg.sock", found: "dead" },
  ],
])("a publication that ends with %j means %j", (end, event) => {
  expect(publicationEvent(end, "/x-reg.sock", "x_1", { alias: "x_1", isHeld: false })).toEqual(event);
});

const plan = { isNewName: true, mayBeBeside: false, overLiving: true };
const [OWN, SAME, OTHER] = [
  [undefined, "taken"],
  ["x_1", "taken"],
  ["x_2", "taken"],
] as const;
const [FREE, HELD] = [
  (alias?: string) => ({ alias, isHeld: false }),
  (alias?: string) => ({ alias, isHeld: true }),
];

test.each<[readonly SocketOfDriver[], first: SocketPlace, later: SocketPlace]>([
  [[], FREE(), FREE("x_1")],
  [[SAME], FREE("x_1"), FREE("x_1")],
  [[OWN], FREE(), HELD()],
  [[OTHER], FREE("x_2"), HELD("x_2")],
  [[["x_2", "dead"]], FREE("x_2"), FREE("x_1")],
])("beside %j our socket, x_1, goes at first to %j and later to %j", (sockets, first, later) => {
  expect(choosePlace(plan, sockets, "x_1")).toEqual(first);
  expect(choosePlace({ ...plan, isNewName: false }, sockets, "x_1")).toEqual(later);
  expect(choosePlace({ ...plan, isNewName: false, mayBeBeside: true }, sockets, "x_1")).toEqual(FREE("x_1"));
  const isElsewhere = publicationEvent({ kind: "elsewhere" }, "/x-reg.sock", "x_1", later);
  expect(isElsewhere).toEqual(later.isHeld ? { kind: "socket-taken", alias: later.alias } : undefined);
});

const TAKEN = (alias?: string) => ({ kind: "socket-taken", alias }) as const;
test.each<[readonly SocketOfDriver[], first: LoopEvent["kind"], later: LoopEvent]>([
  [[SAME], "well-placed", { kind: "well-placed" }],
  [[], "well-placed", { kind: "well-placed" }],
  [[SAME, ["x_2", "dead"]], "well-placed", { kind: "well-placed" }],
  [[SAME, OTHER], "misplaced", TAKEN("x_2")],
  [[OTHER, SAME], "misplaced", TAKEN("x_2")],
  [[OWN, SAME], "misplaced", TAKEN()],
])("once our socket is in place at x_1, %j means %j at first, and later %j", (sockets, first, later) => {
  expect(placementEvent(plan, sockets, "x_1").kind).toBe(first);
  expect(placementEvent({ ...plan, isNewName: false }, sockets, "x_1")).toEqual(later);
  const retry = { ...plan, isNewName: false, mayBeBeside: true };
  expect(placementEvent(retry, sockets, "x_1")).toEqual({ kind: "well-placed" });
});

test.each<[string, boolean, ends: boolean]>([
  ["ENOENT", true, true],
  ["ENOENT", false, false],
  ["EMFILE", true, false],
  ["ETIMEDOUT", true, false],
])("whether %s ends a registration, if a failure is fatal %s: %s", (code, failureIsFatal, ends) => {
  const error = new RegistrarError("SOCKET_UNUSABLE", "no", { cause: Object.assign(new Error(), { code }) });
  expect(endsRegistration({ ...plan, failureIsFatal }, error)).toBe(ends);
  expect(endsRegistration({ ...plan, failureIsFatal }, new Error("a fault of ours"))).toBe(true);
});

const ALL: readonly SocketFound[] = ["ours", "gone", "dead", "blocked", "taken", "unreadable", "hanging"];
const asked = stateNamed("asked");
const IDLE: Look = {
  found: "ours",
  hasDirectory: true,
  nowMs: 1_000,
  sinceMs: 1_000,
  random: 0,
  kubelet: { isAsking: false, isKnown: false, endedAtMs: 0 },
};
const ASKING: Partial<Look> = { kubelet: { isAsking: true, isKnown: true, endedAtMs: 0 } };
const judged = (state: StateOf<"in-place">, seen: Partial<Look>) => judgeInPlace(state, { ...IDLE, ...seen });

test.each<[SocketFound, busy: object, idle: object]>([
  ["taken", { kind: "socket-taken", alias: "x_1" }, { kind: "socket-taken", alias: "x_1" }],
  ["gone", { kind: "wait", ms: 150_000 }, { kind: "socket-gone" }],
  ["blocked", { kind: "wait", ms: 150_000 }, { kind: "socket-gone" }],
  ["dead", { kind: "wait", ms: 150_000 }, { kind: "socket-dead" }],
  ["ours", { kind: "wait", ms: 150_000 }, { kind: "reregister", kubeletIsIdle: true }],
  ["hanging", { kind: "wait", ms: 150_000 }, { kind: "reregister", kubeletIsIdle: true }],
  ["unreadable", { kind: "wait", ms: 150_000 }, { kind: "reregister", kubeletIsIdle: true }],
])("what a look at our socket means that finds %s", (found, busy, idle) => {
  const state = { ...asked, facts: { ...facts, alias: "x_1" }, again: "reregister" } as const;
  expect(judged(state, { ...ASKING, found })).toEqual(busy);
  expect(judged(state, { found })).toEqual(idle);
  expect(judged(state, { ...ASKING, found, nowMs: 151_000 })).toEqual(
    mayBeOurs(found) ? { kind: "reregister", kubeletIsIdle: true } : idle,
  );
  const isLost = found === "gone" || found === "blocked";
  expect(judged(state, { found, hasDirectory: false })).toEqual(isLost ? { kind: "directory-gone" } : idle);
});

describe("a status that is lost", () => {
  const registered = { ...stateNamed("registered"), askedAtMs: 1_000 };

  test.each([asked, registered])("is noticed 5 s after the end of kubelet's connection: %j", (state) => {
    const kubelet = { ...IDLE.kubelet, endedAtMs: 3_000 };
    expect(judged(state, { kubelet, nowMs: 4_000 })).toEqual({ kind: "wait", ms: 4_000 });
    expect(judged(state, { kubelet, nowMs: 8_000 })).toEqual({ kind: "status-lost" });
    // It called, and its connection ended before the answer.
    expect(judged(state, { nowMs: 6_000 })).toEqual({ kind: "status-lost" });
  });

  test("is not assumed while kubelet keeps its connection, or 150 s while a client does that may be another", () => {
    expect(judged(asked, { ...ASKING, nowMs: 1e9 })).toEqual({ kind: "wait", ms: LONGEST_WAIT_MS });
    const perhaps = { kubelet: { isAsking: true, isKnown: false, endedAtMs: 0 } };
    expect(judged(asked, { ...perhaps, nowMs: 150_999 })).toEqual({ kind: "wait", ms: 1 });
    expect(judged(asked, { ...perhaps, nowMs: 151_000 })).toEqual({ kind: "status-lost" });
    expect(judged(stateNamed("listening"), { ...perhaps, nowMs: 151_000 }).kind).toBe("kubelet-silent");
  });

  test("counts as lost later each time", () => {
    expect([0, 1, 9].map((lostStatuses) => statusLostAfterMs({ ...facts, lostStatuses }, 0))).toEqual([
      5_000, 10_000, 300_000,
    ]);
  });

  test("counts as lost sooner on one node than on another: nodes that were frozen together", () => {
    for (const [random, ms] of [
      [0, 5_000],
      [0.5, 4_500],
      [1, 4_000],
    ] as const) {
      expect(judged(asked, { random })).toEqual({ kind: "wait", ms });
      expect(judged(asked, { random, nowMs: 1_000 + ms })).toEqual({ kind: "status-lost" });
    }
  });
});

const FOR_EVER = { ms: LONGEST_WAIT_MS };
const MOVE = { kind: "kubelet-silent" };
const listeningWith = (backoff: DriverFacts["backoff"]) => ({
  ...stateNamed("listening"),
  facts: { ...facts, backoff },
});
test.each<[string, StateOf<"in-place">, Partial<Look>, object]>([
  ["after 2.5 s", stateNamed("listening"), { nowMs: 3_500 }, { kind: "kubelet-silent" }],
  ["not before", stateNamed("listening"), { nowMs: 3_400 }, { kind: "wait", ms: 100 }],
  [
    "not while kubelet works on an earlier publication",
    stateNamed("listening"),
    { ...ASKING, nowMs: 1e9 },
    {},
  ],
  [
    "nor soon after",
    stateNamed("listening"),
    { kubelet: { ...IDLE.kubelet, endedAtMs: 3_000 }, nowMs: 4_000 },
    { kind: "wait", ms: 1_500 },
  ],
  ["not once registered", stateNamed("registered"), { nowMs: 1e9 }, FOR_EVER],
  ["not where none can be", listeningWith("none"), { nowMs: 1e9 }, FOR_EVER],
  ["not soon, once kubelet was busy", listeningWith("refuted"), { nowMs: 3_500 }, { ms: 147_500 }],
  ["when the longest NodeGetInfo is over", listeningWith("refuted"), { nowMs: 151_000 }, MOVE],
])("moves from kubelet's backoff %s", (_what, state, seen, expected) => {
  expect(judged(state, seen)).toMatchObject({ kind: "wait", ...expected });
});

const IN_PLACE: readonly StateName[] = ["listening", "asked", "registered"];
propertyTest(
  "a judged event changes the state, so that it is not judged again",
  {
    runs: 500,
    given: fc.record({
      name: fc.constantFrom(...IN_PLACE),
      registeredAsked: fc.option(fc.nat(1_000_000), { nil: undefined }),
      again: fc.constantFrom(undefined, "reregister" as const, "driver-restarted" as const),
      backoff: fc.constantFrom("possible" as const, "refuted" as const, "none" as const),
      found: fc.constantFrom<SocketFound>(...ALL),
      nowMs: fc.nat(1_000_000),
      endedAtMs: fc.nat(1_000_000),
      isAsking: fc.boolean(),
      isKnown: fc.boolean(),
      hasDirectory: fc.boolean(),
    }),
  },
  ({ name, registeredAsked, again, backoff, isAsking, isKnown, endedAtMs, ...rest }) => {
    const known = stateNamed(name) as StateOf<"in-place">;
    const askedAtMs = name === "registered" ? registeredAsked : known.askedAtMs;
    const state = { ...known, askedAtMs, again, facts: { ...facts, backoff } };
    const next = judgeInPlace(state, { ...IDLE, ...rest, kubelet: { isAsking, isKnown, endedAtMs } });
    if (next.kind === "wait") expect(next.ms).toBeGreaterThan(0);
    else expect(transition(state, next, { nowMs: 0, random: 0 })).not.toBe(state);
  },
);

const PEER = "Another driver with the same name is already registered with a higher supported version";
test.each([
  ["exit", true, "", { kind: "accepted" }],
  ["retry", false, PEER, { kind: "already-registered", error: PEER, isFinal: false }],
  ["exit", false, PEER, { kind: "already-registered", error: PEER, isFinal: true }],
  ["retry", false, "no", { kind: "refused", error: "no" }],
] as const)("with policy %s, registered %s: %s", (policy, registered, error, expected) => {
  expect(statusEvent(policy, { registered, error })).toEqual(expected);
});

test("after refusals the tries come at even distances, later at long ones", () => {
  const pauses = [1, 2, 9, 10, 11, 12].map((count) => refusalPauseMs(count, 0));
  expect(pauses).toEqual([2_000, 4_000, 18_000, 60_000, 120_000, 240_000]);
  expect(refusalPauseMs(1, 0.123_45)).toBe(1_951);
});

test("a peer without its socket or process is gone; one that cannot be looked at is not", () => {
  expect(ALL.filter(peerIsGone)).toEqual(["gone", "dead", "blocked"]);
  expect(ALL.filter(mayBeOurs)).toEqual(["ours", "unreadable", "hanging"]);
});
