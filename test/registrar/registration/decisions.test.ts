import { infoAnswer } from "../../../src/registrar/registration/decisions";
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
