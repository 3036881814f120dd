import { dependsOnDriver, patternOf } from "../../src/node-readiness/driver-template";
import {
  parseStartupTaint,
  planRemoval,
  startupTaintsOf,
  taintText,
} from "../../src/node-readiness/startup-taint";
import { nodeWith } from "./support/controlled-registrations";

const OURS = { key: "disk.csi.example.com/agent-not-ready", effect: "NoSchedule" };
const OURS_TOO = { key: OURS.key, value: "x", effect: "NoExecute", timeAdded: "t" };
const OTHER = { key: "other.csi.example.com/agent-not-ready", effect: "NoSchedule" };
const remove = (place: number, value: object) => [
  { op: "test", path: `/spec/taints/${place}`, value },
  { op: "remove", path: `/spec/taints/${place}` },
];
const ANY = { key: OURS.key, effect: undefined };

test.each([
  ["no taint", [], [ANY], undefined],
  ["others' taints only", [OTHER], [ANY], undefined],
  ["the only one", [OURS], [ANY], remove(0, OURS)],
  ["one among others", [OTHER, OURS, OTHER], [ANY], remove(1, OURS)],
  ["two effects", [OURS, OTHER, OURS_TOO], [ANY], [...remove(2, OURS_TOO), ...remove(0, OURS)]],
  ["the effect that is meant", [OURS, OURS_TOO], [{ ...ANY, effect: "NoExecute" }], remove(1, OURS_TOO)],
  ["an effect that is not there", [OURS], [{ ...ANY, effect: "NoExecute" }], undefined],
  ["a key that begins alike", [{ ...OURS, key: `${OURS.key}-2` }], [ANY], undefined],
  ["nothing wanted", [OURS], [], undefined],
])("the patch for %s", (_what, taints, wanted, patch) => {
  expect(planRemoval(nodeWith({ taints }), wanted)).toEqual(patch);
});

test.each([
  ["a/b", { key: "a/b", effect: undefined }],
  ["plain", { key: "plain", effect: undefined }],
  ["a:PreferNoSchedule", { key: "a", effect: "PreferNoSchedule" }],
  ["ebs.csi.aws.com/a:NoExecute", { key: "ebs.csi.aws.com/a", effect: "NoExecute" }],
])("%s is read", (text, parsed) => {
  expect(parseStartupTaint(text)).toEqual(parsed);
});

test.each([
  ["", "the key must be"],
  ["a b", "the key must be NAME or DNS-NAME/NAME, such as example.com/agent-not-ready; with"],
  ["{node}/x", "the key must be"],
  ["{driver}", "with {driver} DNS-NAME/NAME"],
  ["a/b:Never", "the effect must be one of NoSchedule, PreferNoSchedule, NoExecute"],
  ["a/b:NoSchedule:", "the effect must be one of"],
  ["a=b:NoSchedule", "without a value"],
  ["node.kubernetes.io/not-ready", "its own controller removes it"],
  ["node.cloudprovider.kubernetes.io/uninitialized", "its own controller"],
  ["readiness.k8s.io/x:NoSchedule", "its own controller"],
])("%p is refused", (text, why) => {
  const message = expect.stringContaining(why);
  expect(() => parseStartupTaint(text)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message }));
});

test.each([
  ["{driver}/a", "disk.csi.example.com", true],
  ["{driver}/a", "nfs.csi.k8s.io", true],
  ["{driver}/a", "kubernetes.io", false],
  ["{driver}/a", "node.kubernetes.io", false],
  ["{driver}/a", "readiness.k8s.io", false],
  ["{driver}/a", "csi.k8s.io", false],
  ["{driver}/a", "node.cilium.io", false],
  ["{driver}/a", "karpenter.sh", false],
  ["{driver}/a", "mykubernetes.io", true],
  ["{driver}/a", "Upper.example.com", false],
  ["node.{driver}/a", "kubernetes.io", false],
  ["example.com/{driver}", "node.kubernetes.io", true],
  ["example.com/{driver}.x", "x".repeat(63), false],
  ["a/b", "node.kubernetes.io", true],
])("the taint %s of the driver %s is the driver's own: %s", (key, driver, isOwn) => {
  const taints = startupTaintsOf(driver, [{ key, effect: "NoExecute" }]);
  expect(taints).toEqual(isOwn ? [{ key: key.replace("{driver}", driver), effect: "NoExecute" }] : []);
});

test.each([
  ["{driver}/a.b", true, "^[-.a-zA-Z0-9]+/a[.]b$"],
  ["node.{driver}/{driver}", true, "^node[.][-.a-zA-Z0-9]+/[-.a-zA-Z0-9]+$"],
  ["x.y/{driver}", false, "^x[.]y/[-.a-zA-Z0-9]+$"],
  ["{driver}", false, "^[-.a-zA-Z0-9]+$"],
  ["plain", false, "^plain$"],
])(
  "the domain of %s depends on the driver: %s, and all names are matched by %s",
  (template, depends, pattern) => {
    expect([dependsOnDriver(template), patternOf(template)]).toEqual([depends, pattern]);
  },
);

test("a taint is shown as kubectl writes it", () => {
  expect(taintText({ key: "a/b", effect: "NoSchedule" })).toBe("a/b:NoSchedule");
  expect(taintText({ key: "a/b", value: "c", effect: "NoExecute" })).toBe("a/b=c:NoExecute");
});
