import {
  type ConditionSubject,
  conditionFor,
  parseConditionType,
  planCondition,
} from "../../src/node-readiness/condition";
import type { Listing } from "../../src/node-readiness/csi-node";
import type { NodeCondition } from "../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { STATE_NAMES } from "../../src/registrar/model/state";
import { nodeWith, registrationIn } from "./support/controlled-registrations";

const TYPE = "disk.csi.example.com/Registered";
const NOW = new Date("2026-11-22T01:02:03.456Z");
const STATES: readonly ObservedRegistration["state"][] = [...STATE_NAMES, "gone"];
const LISTINGS = ["listed", "orphaned", "absent"] as const;

test("what the condition says of each state of a registration", () => {
  const saying = (
    state: ObservedRegistration["state"],
    listing: Listing,
    more: Partial<ConditionSubject> = {},
  ) => {
    const said = conditionFor(
      { type: TYPE, driverName: "d", registration: registrationIn(state), ...more },
      listing,
    );
    return `${state} ${listing}: ${JSON.stringify(said)?.replace(/x{500}/, "x{500}") ?? "nothing"}`;
  };
  const refused = { registration: { state: "asked", kubeletError: "x".repeat(501) } } as const;
  const lines = [
    ...STATES.flatMap((state) => LISTINGS.map((listing) => saying(state, listing))),
    `kubelet has refused it before: ${saying("asked", "absent", refused)}`,
    `before the driver has answered: ${saying("waiting", "absent", { driverName: undefined })}`,
  ];
  expect(["", ...lines, ""].join("\n")).toMatchSnapshot();
});

const WANTED = { type: TYPE, status: "True", reason: "Registered", message: "m" } as const;
const time = "2026-11-22T01:02:03Z";
const earlier = "2026-01-01T00:00:00Z";
const patchWith = (lastTransitionTime: string, wanted: object = WANTED) => ({
  status: { conditions: [{ ...wanted, lastHeartbeatTime: time, lastTransitionTime }] },
});

test.each<[string, NodeCondition[], object | undefined]>([
  ["nothing there", [], patchWith(time)],
  ["only others' there", [{ type: "Ready", status: "True" }], patchWith(time)],
  ["the same of another type before it", [{ ...WANTED, type: "Ready" }], patchWith(time)],
  ["another status", [{ ...WANTED, status: "False", lastTransitionTime: earlier }], patchWith(time)],
  [
    "another reason: the status did not turn",
    [{ ...WANTED, reason: "Old", lastTransitionTime: earlier }],
    patchWith(earlier),
  ],
  ["the same", [WANTED], undefined],
  ["the same in other words", [{ ...WANTED, message: "other" }], undefined],
])("the patch for %s", (_what, conditions, patch) => {
  expect(planCondition(nodeWith({ conditions }), WANTED, NOW)).toEqual(patch);
});

test.each(["CSIDriverRegistered", "example.com/CSIDriverRegistered", "{driver}/Registered"])("%s", (text) => {
  expect(parseConditionType(text)).toBe(text);
});

test.each([
  ["Ready", "kubelet's own"],
  ["{driver}", "with {driver} DNS-NAME/NAME"],
  ["", "the type must be NAME or DNS-NAME/NAME, such as example.com/CSIDriverRegistered; with"],
])("%p is refused", (text, why) => {
  expect(() => parseConditionType(text)).toThrow(why);
});
