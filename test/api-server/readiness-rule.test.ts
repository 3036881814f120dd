import { readText } from "../docs/markdown";
import { useCluster } from "./support/cluster";
import { installCrd } from "./support/install-crd";

// The example for the node readiness controller, under the CRD of its release.

const cluster = useCluster((started) => installCrd(started, "node-readiness-rules.yaml"));

const rule = readText("examples/node-readiness-rule.yaml");

test("the rule is valid, and every field of it is one that the CRD knows", async () => {
  expect(await cluster.apply(rule)).toContain("csi-hostpath-node serverside-applied");
});

test.each<[string | RegExp, (rule: string) => string]>([
  ["conditions is immutable", (rule) => rule.replace("hostpath.csi.k8s.io/Registered", "x/Registered")],
  ["enforcementMode is immutable", (rule) => rule.replace(": continuous", ": bootstrap-only")],
  ["taint effect is immutable", (rule) => rule.replace("effect: NoSchedule", "effect: NoExecute")],
  ["nodeSelector is immutable", (rule) => rule.replace("os: linux", "os: windows")],
  [
    /field not declared in schema|unknown field "severity"/,
    (rule) => rule.replace("spec:\n", "spec:\n  severity: high\n"),
  ],
])("an edit of the rule is refused: %s", async (refusal, edit) => {
  await cluster.apply(rule);
  expect(edit(rule)).not.toBe(rule);
  await expect(cluster.apply(edit(rule))).rejects.toThrow(refusal);
});
