import { join } from "node:path";
import { readText } from "../docs/markdown";
import { useCluster } from "./support/cluster";

const CRD = join(__dirname, "support", "crds", "node-readiness-rules.yaml");

// The example for the node readiness controller, under the CRD of its release.

const cluster = useCluster(async ({ controlPlane, apply }) => {
  await apply(readText("test/api-server/support/crds/node-readiness-rules.yaml"));
  await controlPlane.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", CRD);
});

test("the rule is valid, and every field of it is one that the CRD knows", async () => {
  const rule = readText("examples/node-readiness-rule.yaml");
  expect(await cluster.apply(rule)).toContain("csi-hostpath-node serverside-applied");
  const unknown = rule.replace("spec:\n", "spec:\n  severity: high\n");
  await expect(cluster.apply(unknown)).rejects.toThrow(
    /field not declared in schema|unknown field "severity"/,
  );
});
