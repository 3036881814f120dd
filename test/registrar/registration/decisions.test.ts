import * as fc from "fast-check";
import { RegistrarError } from "../../../src/base/errors";
import { LONGEST_WAIT_MS } from "../../../src/base/pause";
import type { SocketOfDriver } from "../../../src/registrar/model/socket-name";
import {
  type LoopEvent,
  PUBLISH_REASONS,
  type StateName,
  type StateOf,
} from "../../../src/registrar/model/state";
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
  statusEvent,
} from "../../../src/registrar/registration/decisions";
import { transition } from "../../../src/registrar/registration/transition";
import { mayBeOurs, type SocketFound } from "../../../src/unix/unix-socket";
import { propertyTest } from "../../support/fuzz";
import { facts, stateNamed } from "../../support/registration-states";

const ALL: readonly SocketFound[] = ["ours", "gone", "dead", "blocked", "taken", "unreadable", "hanging"];
const namesOf = (flags: object) =>
  Object.entries(flags).flatMap(([name, isSet]) => (isSet === true ? [name] : []));
const joined = (words: readonly string[]) => words.join(", ") || "-";
/** An event in a few words. */
const told = (event: LoopEvent | undefined) =>
  event
    ? joined(Object.entries(event).map(([key, value]) => (key === "kind" ? value : `${key} ${value}`)))
    : "-";
/** Each answer once, behind all that leads to it. */
function grouped(answers: readonly (readonly [given: string, answer: string])[]): readonly string[] {
  const all = new Map<string, string>();
  for (const [given, answer] of answers) {
    const others = all.get(answer);
    all.set(answer, others === undefined ? given : `${others} | ${given}`);
  }
  return [...all].map(([answer, given]) => `${given}: ${answer}`);
}

test("what a publication may do", () => {
  const plans = [true, false].flatMap((everPublished) =>
    [false, true].flatMap((isNodeWide) =>
      PUBLISH_REASONS.map((reason): [string, string] => {
        const state = { kind: "publishing", facts: { ...facts, everPublished }, reason } as const;
        const when = `${everPublished ? "later" : "first"}${isNodeWide ? ", node-wide" : ""}, ${reason}`;
        return [when, joined(namesOf(planPublication(state, isNodeWide)))];
      }),
    ),
  );
  expect(grouped(plans)).toMatchSnapshot();
});

test("where our socket goes, and whether it is well placed there, beside other sockets of the driver", () => {
  const others: readonly (readonly SocketOfDriver[])[] = [
    [],
    [["x_1", "taken"]],
    [[undefined, "taken"]],
    [["x_2", "taken"]],
    [["x_2", "dead"]],
    [
      ["x_1", "taken"],
      ["x_2", "dead"],
    ],
    [
      ["x_1", "taken"],
      ["x_2", "taken"],
    ],
    [
      ["x_2", "taken"],
      ["x_1", "taken"],
    ],
    [
      [undefined, "taken"],
      ["x_1", "taken"],
    ],
  ];
  const plans = {
    "under a new name": { isNewName: true, mayBeBeside: false },
    later: { isNewName: false, mayBeBeside: false },
    "after a refusal": { isNewName: false, mayBeBeside: true },
  };
  const places = Object.entries(plans).map(([name, plan]) => {
    const lines = others.map((sockets) => {
      const place = choosePlace(plan, sockets, "x_1");
      const taken = publicationEvent({ kind: "elsewhere" }, "/x-reg.sock", "x_1", place);
      const steps = [
        `goes to ${place.alias}`,
        `elsewhere by then: ${told(taken)}`,
        `in place at x_1: ${told(placementEvent(plan, sockets, "x_1"))}`,
      ];
      return [sockets.map(([alias, found]) => `${alias} ${found}`).join(", ") || "none", joined(steps)];
    });
    return [name, Object.fromEntries(lines)];
  });
  expect(Object.fromEntries(places)).toMatchSnapshot();
});

test("what the end of a publication means", () => {
  const place = { alias: "x_2", isHeld: true };
  const taken = publicationEvent({ kind: "taken" }, "/x-reg.sock", "x_1", place);
  const inPlace = publicationEvent({ kind: "in-place", found: "dead" }, "/x-reg.sock", "x_1", place);
  expect([told(taken), told(inPlace)]).toEqual([
    "socket-taken, alias x_1",
    "published, socketPath /x-reg.sock, alias x_1, found dead",
  ]);
});

test("a first failure to publish is fatal, unless it may pass; a fault of ours is always", () => {
  const plan = { isNewName: true, mayBeBeside: false, overLiving: true };
  const ends = ["ENOENT", "EACCES", "ENOSPC", "EMFILE", "ENFILE", "ENOMEM", "ETIMEDOUT"].filter((code) => {
    const cause = Object.assign(new Error(), { code });
    const error = new RegistrarError("SOCKET_UNUSABLE", "no", { cause });
    expect(endsRegistration({ ...plan, failureIsFatal: false }, error)).toBe(false);
    return endsRegistration({ ...plan, failureIsFatal: true }, error);
  });
  expect(ends).toEqual(["ENOENT", "EACCES", "ENOSPC"]);
  for (const failureIsFatal of [true, false])
    expect(endsRegistration({ ...plan, failureIsFatal }, new Error("a fault of ours"))).toBe(true);
});

const [listening, asked, registered] = [
  stateNamed("listening"),
  stateNamed("asked"),
  stateNamed("registered"),
];
const IDLE: Look = {
  found: "ours",
  hasDirectory: true,
  nowMs: 1_000,
  sinceMs: 1_000,
  random: 0,
  kubelet: { isAsking: false, isKnown: false, endedAtMs: 0 },
};
const judged = (state: StateOf<"in-place">, seen: Partial<Look>) => judgeInPlace(state, { ...IDLE, ...seen });

/** What is done from a look at `nowMs` on, if nothing changes. */
function courseOf(state: StateOf<"in-place">, seen: Partial<Look>): string {
  const steps: string[] = [];
  for (let nowMs = seen.nowMs ?? IDLE.nowMs; ; ) {
    const next = judged(state, { ...seen, nowMs });
    if (next.kind !== "wait") return joined([...steps, told(next)]);
    if (next.ms === LONGEST_WAIT_MS) return joined([...steps, "no more"]);
    steps.push(`wait ${next.ms}`);
    if (next.ms <= 0) return joined(steps);
    nowMs += next.ms;
  }
}

test("what is done while our socket is in place", () => {
  const aliased = { ...facts, alias: "x_1" };
  const states: Record<string, StateOf<"in-place">> = {
    "listening, backoff possible": { ...listening, facts: aliased },
    "listening, backoff refuted": { ...listening, facts: { ...aliased, backoff: "refuted" } },
    "listening, no backoff": { ...listening, facts: { ...aliased, backoff: "none" } },
    "asked at 1000": { ...asked, facts: aliased },
    "asked at 1000, 2 lost": { ...asked, facts: { ...aliased, lostStatuses: 2 } },
    registered: { ...registered, facts: { ...aliased, backoff: "possible" } },
    "registered, asked at 1000": { ...registered, facts: aliased, askedAtMs: 1_000 },
    "registered, to be again": { ...registered, facts: aliased, again: "reregister" },
    "asked at 1000, to be again": { ...asked, facts: aliased, again: "driver-restarted" },
  };
  const looks: Record<string, Partial<Look>> = {
    "kubelet is away": {},
    "kubelet is away, no directory": { hasDirectory: false },
    "kubelet left at 3000": { nowMs: 3_500, kubelet: { isAsking: false, isKnown: true, endedAtMs: 3_000 } },
    "kubelet asks": { kubelet: { isAsking: true, isKnown: true, endedAtMs: 0 } },
    "perhaps kubelet asks": { kubelet: { isAsking: true, isKnown: false, endedAtMs: 0 } },
  };
  const courses = Object.entries(states).flatMap(([name, state]) =>
    Object.entries(looks).map(([when, seen]) => {
      const found = ALL.map((found): [string, string] => [found, courseOf(state, { ...seen, found })]);
      return [`${name}; ${when}`, grouped(found).join("; ")];
    }),
  );
  expect(Object.fromEntries(courses)).toMatchSnapshot();
});

test("how long kubelet is busy counts from its question, however long the socket is in place", () => {
  const seen = { found: "dead", kubelet: { isAsking: true, isKnown: true, endedAtMs: 0 } } as const;
  for (const sinceMs of [IDLE.sinceMs, -1_000_000])
    expect(judged(asked, { ...seen, sinceMs })).toEqual({ kind: "wait", ms: 150_000 });
});

test("a status that is lost counts as that later each time, and at another moment on each node", () => {
  const after = (lostStatuses: number, random: number) =>
    judged({ ...asked, facts: { ...facts, lostStatuses } }, { random });
  for (const [lostStatuses, random, ms] of [
    [0, 0, 5_000],
    [1, 0, 10_000],
    [9, 0, 300_000],
    [0, 0.5, 4_500],
    [0, 1, 4_000],
  ] as const)
    expect(after(lostStatuses, random)).toEqual({ kind: "wait", ms });
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

test("the event that kubelet's status is", () => {
  const PEER = "already registered with a higher supported version";
  const events = (["retry", "end", "exit"] as const).flatMap((policy) =>
    ["", "no", PEER].map((error): [string, string] => [
      `${policy} ${error || "registered"}`,
      told(statusEvent(policy, { registered: error === "", error })),
    ]),
  );
  expect(grouped(events)).toMatchSnapshot();
});

test("after refusals the tries come at even distances, later at long ones", () => {
  const pauses = [1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 99].map((count) => refusalPauseMs(count, 0));
  expect(pauses).toEqual([
    2_000, 4_000, 8_000, 16_000, 18_000, 18_000, 60_000, 120_000, 240_000, 240_000, 240_000,
  ]);
  expect([1, 10].map((count) => refusalPauseMs(count, 0.123_45))).toEqual([1_951, 58_519]);
});

test("a peer without its socket or process is gone; one that cannot be looked at is not", () => {
  expect(ALL.filter(peerIsGone)).toEqual(["gone", "dead", "blocked"]);
  expect(ALL.filter(mayBeOurs)).toEqual(["ours", "unreadable", "hanging"]);
});

test("what GetInfo gets over our socket, one that was withdrawn, and one of another publication", () => {
  const states = [
    ...(["waiting", "publishing", "listening", "registered", "refused", "standby"] as const).map(stateNamed),
    { ...stateNamed("stopped"), facts: undefined },
  ];
  const answers = states.flatMap((state) =>
    [
      { isWithdrawn: false, isOwn: true },
      { isWithdrawn: true, isOwn: true },
      { isWithdrawn: false, isOwn: false },
    ].map((publication): [string, string] => [
      `${state.kind} ${joined(namesOf(publication))}`,
      Object.values(infoAnswer(state, publication)).join(),
    ]),
  );
  expect(grouped(answers)).toMatchSnapshot();
});
