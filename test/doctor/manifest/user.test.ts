import { CSI_DRIVER, daemonSet, said } from "./one-daemon-set";

const ROOT = { runAsUser: 0 };
const OTHER = { runAsUser: 1000 };
const NOT_ROOT = { runAsNonRoot: true };

test.each<readonly [pod: object, container: object, what: string, fix: string]>([
  [OTHER, {}, "runAsUser 1000", "set runAsUser: 0"],
  [{}, NOT_ROOT, "runAsNonRoot", "take runAsNonRoot off"],
  [{}, { ...ROOT, ...NOT_ROOT }, "runAsNonRoot", "take runAsNonRoot off"],
  [NOT_ROOT, ROOT, "runAsNonRoot", "set runAsNonRoot: false in the container"],
  [NOT_ROOT, NOT_ROOT, "runAsNonRoot", "set runAsNonRoot: false in the container"],
  [{}, { ...OTHER, ...NOT_ROOT }, "runAsNonRoot", "take runAsNonRoot off, and set runAsUser: 0"],
])("a pod with %j, a container with %j", (pod, container, what, fix) => {
  const object = daemonSet({ pod: { securityContext: pod }, container: { securityContext: container } });
  expect(said(object, CSI_DRIVER)).toEqual([`CSI108 problem: does not run as root: ${what} -> ${fix}`]);
});

test("a container that is root in a pod that is not", () => {
  const container = { securityContext: { runAsUser: 0, runAsNonRoot: false } };
  const pod = { securityContext: { runAsUser: 1000, runAsNonRoot: true } };
  expect(said(daemonSet({ pod, container }), CSI_DRIVER)).toEqual([]);
});
