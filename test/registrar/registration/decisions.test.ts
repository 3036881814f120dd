import type { InPlaceState, StateOf } from "../../../src/registrar/model/state";
import {
  infoAnswer,
  isKubeletBusy,
  judgeInPlace,
  planPublication,
} from "../../../src/registrar/registration/decisions";
import { stateNamed } from "../../support/registration-states";

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
] as const)("what GetInfo gets %s", (_when, state, publication, expected) => {
  const answer = infoAnswer(stateNamed(state), publication);
  expect(answer).toEqual(
    typeof expected === "string" ? { whyNot: expect.stringContaining(expected) } : expected,
  );
});

const publishing = stateNamed("publishing") as StateOf<"publishing">;

test.each([
  ["of a start", { reason: "driver-named" }, false, true],
  ["after standby", { reason: "peer-gone" }, false, false],
  ["of a node-wide registrar", { reason: "driver-named" }, true, false],
  ["after another publication", { facts: { ...publishing.facts, everPublished: true } }, false, false],
] as const)(
  "whether a failure of the first publication %s ends a registrar",
  (_what, state, isNodeWide, expected) => {
    const facts = { ...publishing.facts, everPublished: false };
    expect(planPublication({ ...publishing, facts, ...state }, isNodeWide).failureIsFatal).toBe(expected);
  },
);

const asked = stateNamed("asked") as InPlaceState;

test.each([
  ["while it has a connection on which it asked", 1_000, true, true],
  ["no more when that is gone", 1_000, false, false],
  ["no more when its status is overdue", 155_000, true, false],
])("kubelet is busy, %s", (_when, nowMs, hasCaller, expected) => {
  expect(isKubeletBusy(asked, nowMs, hasCaller)).toBe(expected);
});

test.each([
  ["taken", { kind: "socket-taken", alias: undefined }],
  ["gone", undefined],
  ["dead", undefined],
] as const)("while kubelet is busy, what a look finds means: %s", (found, event) => {
  expect(judgeInPlace(asked, found, { isKubeletBusy: true, hasDirectory: true })).toEqual(event);
});
