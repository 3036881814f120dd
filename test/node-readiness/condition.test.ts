import {
  type ConditionSubject,
  conditionFor,
  parseConditionType,
  planCondition,
} from "../../src/node-readiness/condition";
import type { NodeCondition } from "../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { nodeWith, registrationIn } from "./support/controlled-registrations";

const TYPE = "disk.csi.example.com/Registered";
const NOW = new Date("2026-11-22T01:02:03.456Z");
const subjectIn = (state: ObservedRegistration["state"]): ConditionSubject => ({
  type: TYPE,
  driverName: "d",
  registration: registrationIn(state),
});

test.each([
  ["registered", "listed", "True", "Registered"],
  ["registered", "orphaned", "False", "CSINodeOfDeletedNode"],
  ["registered", "absent", "False", "NotInCSINode"],
  ["refused", "absent", "False", "Refused"],
  ["waiting", "absent", "False", "DriverNotAnswering"],
  ["publishing", "absent", "False", "NotRegistered"],
  ["listening", "absent", "False", "NotRegistered"],
  ["asked", "absent", "False", "NotRegistered"],
  ["gone", "absent", "False", "DriverGone"],
  ...(["standby", "stopping", "stopped"] as const).map(
    (state) => [state, "absent", undefined, undefined] as const,
  ),
] as const)("%s, listed %s: %s because of %s", (state, listed, status, reason) => {
  const said = conditionFor(subjectIn(state), listed);
  if (status === undefined) expect(said).toBeUndefined();
  else expect(said).toMatchObject({ type: TYPE, status, reason, message: expect.stringContaining("d") });
});

test("the message has no name before the driver has answered", () => {
  const said = conditionFor({ ...subjectIn("waiting"), driverName: undefined }, "absent");
  expect(said?.message).toBe("the CSI driver has not answered the registrar");
});

test("kubelet's words in the message are cut at a limit", () => {
  const registration = { state: "refused", kubeletError: "x".repeat(5_000) } as const;
  const said = conditionFor({ ...subjectIn("refused"), registration }, "absent");
  expect(said?.message).toContain("kubelet refused CSI driver d: xxx");
  expect(said?.message.length).toBeLessThan(600);
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
  ["", "the type must be"],
])("%p is refused", (text, why) => {
  expect(() => parseConditionType(text)).toThrow(why);
});
