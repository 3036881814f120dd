import { RegistrarError } from "../../../src/base/errors";
import type { InPlaceState, LoopEvent, StateOf } from "../../../src/registrar/model/state";
import {
  endsRegistration,
  infoAnswer,
  isKubeletBusy,
  judgeInPlace,
  movesFromBackoff,
  peerIsGone,
  planPublication,
  publicationEvent,
  refusalPauseMs,
  statusEvent,
  statusLostAfterMs,
} from "../../../src/registrar/registration/decisions";
import type { PublishEnd } from "../../../src/unix/publish-steps";
import type { SocketFound } from "../../../src/unix/unix-socket";
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
  [{ kind: "elsewhere" }, undefined],
])("a publication that ends with %j means %j", (end, event) => {
  expect(publicationEvent(end, "/x-reg.sock", "x_1")).toEqual(event);
});

const plan = { isNewName: true, overLiving: true };

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

const asked = stateNamed("asked") as InPlaceState;

test.each([
  ["while it has a connection on which it asked", 150_999, true, true],
  ["no more when that is gone", 1_000, false, false],
  ["no more when its status is overdue", 151_000, true, false],
])("kubelet is busy, %s", (_when, nowMs, hasCaller, expected) => {
  expect(isKubeletBusy(asked, nowMs, hasCaller)).toBe(expected);
});

test.each<[SocketFound, busy: object | undefined, idle: object | undefined]>([
  ["taken", { kind: "socket-taken", alias: "x_1" }, { kind: "socket-taken", alias: "x_1" }],
  ["gone", undefined, { kind: "socket-gone" }],
  ["blocked", undefined, { kind: "socket-gone" }],
  ["dead", undefined, { kind: "socket-dead" }],
  ["ours", undefined, { kind: "reregister", kubeletIsIdle: true }],
  ["hanging", undefined, { kind: "reregister", kubeletIsIdle: true }],
])("what a look at our socket means that finds %s", (found, busy, idle) => {
  const state: InPlaceState = { ...asked, facts: { ...facts, alias: "x_1" }, again: "reregister" };
  expect(judgeInPlace(state, found, { isKubeletBusy: true, hasDirectory: true })).toEqual(busy);
  const seen = { isKubeletBusy: false, hasDirectory: true };
  expect(judgeInPlace(state, found, seen)).toEqual(idle);
  const isLost = found === "gone" || found === "blocked";
  const gone = judgeInPlace(state, found, { ...seen, hasDirectory: false });
  expect(gone).toEqual(isLost ? { kind: "directory-gone" } : idle);
});

test("our socket in place is as it should be, unless kubelet is to register the driver again", () => {
  expect(judgeInPlace(asked, "ours", { isKubeletBusy: false, hasDirectory: true })).toBeUndefined();
});

test("a status counts as lost later each time", () => {
  expect([0, 1, 9].map((lostStatuses) => statusLostAfterMs({ ...facts, lostStatuses }))).toEqual([
    5_000, 10_000, 300_000,
  ]);
});

const left = { ...facts, foundDeadSocket: true };
test.each([
  ["from a socket that a reboot left", left, false, true],
  ["not while kubelet works on another", left, true, false],
  ["not from one of its own", facts, false, false],
  ["not once registered", { ...left, everRegistered: true }, false, false],
  ["not twice", { ...left, hasMoved: true }, false, false],
])("moves from kubelet's backoff %s", (_what, known, hasCaller, expected) => {
  expect(movesFromBackoff(known, hasCaller)).toBe(expected);
});

const PEER = "Another driver with the same name is already registered with a higher supported version";
test.each([
  ["exit", true, "", { kind: "accepted" }],
  ["retry", false, PEER, { kind: "already-registered", error: PEER }],
  ["exit", false, PEER, { kind: "refused", error: PEER }],
  ["retry", false, "no", { kind: "refused", error: "no" }],
] as const)("with policy %s, registered %s: %s", (policy, registered, error, expected) => {
  expect(statusEvent(policy, { registered, error })).toEqual(expected);
});

test("after refusals it tries at even distances at first, then seldom", () => {
  const pauses = [1, 2, 9, 10, 11, 12].map((count) => refusalPauseMs(count, 0));
  expect(pauses).toEqual([2_000, 4_000, 18_000, 60_000, 120_000, 240_000]);
  expect(refusalPauseMs(1, 0.123_45)).toBe(1_951);
});

test("a peer is gone without its socket or its process, not where its file system does not answer", () => {
  const all: SocketFound[] = ["gone", "dead", "taken", "ours", "hanging", "blocked"];
  expect(all.filter(peerIsGone)).toEqual(["gone", "dead", "blocked"]);
});
