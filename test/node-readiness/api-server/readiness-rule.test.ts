import { runCommand } from "../../support/run-command";
import { DRIVER } from "../support/controlled-registrations";
import { ACCOUNT, useCluster } from "./support/cluster";
import { installCrd } from "./support/install-crd";

// What manifest writes for the node readiness controller, under the CRD of its release.

const cluster = useCluster((started) => installCrd(started, "node-readiness-rules.yaml"));

const written = async (driver = DRIVER) => {
  const images = ["--image=registrar:v1", "--driver-image=driver:v1", `--name=${ACCOUNT}`];
  const words = [`--driver-name=${driver}`, "--node-condition={driver}/Registered", "--node-readiness-rule"];
  const { stdout } = await runCommand("manifest", ...images, ...words);
  return stdout.slice(stdout.lastIndexOf("\n---\n") + 5);
};

test("the rule is valid, and every field of it is one that the CRD knows", async () => {
  expect(await cluster.apply(await written())).toContain(`${ACCOUNT} serverside-applied`);
});

test.each<[string | RegExp, (rule: string) => string]>([
  ["conditions is immutable", (rule) => rule.replace(`${DRIVER}/Registered`, "x/Registered")],
  ["enforcementMode is immutable", (rule) => rule.replace(": continuous", ": bootstrap-only")],
  ["taint effect is immutable", (rule) => rule.replace("effect: NoSchedule", "effect: NoExecute")],
  ["nodeSelector is immutable", (rule) => rule.replace("os: linux", "os: windows")],
  [
    /field not declared in schema|unknown field "severity"/,
    (rule) => rule.replace("spec:\n", "spec:\n  severity: high\n"),
  ],
])("an edit of the rule is refused: %s", async (refusal, edit) => {
  const rule = await written();
  await cluster.apply(rule);
  expect(edit(rule)).not.toBe(rule);
  await expect(cluster.apply(edit(rule))).rejects.toThrow(refusal);
});
