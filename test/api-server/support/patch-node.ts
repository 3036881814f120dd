import { createApiClient } from "../../../src/kube-api/client";
import type { Outcome } from "../../../src/kube-api/failure";
import { eventually } from "../../support/eventually";
import type { Cluster } from "./cluster";

export const merge = { type: "strategic-merge-patch" };
export const onStatus = { ...merge, status: true };

export type PatchOptions = NonNullable<Parameters<typeof patchNode>[2]>;

export async function patchNode(
  cluster: Cluster,
  body: object,
  { node = "node-1", from = "node-1", status = false, type = "json-patch" } = {},
): Promise<Outcome<unknown>> {
  const client = createApiClient(await cluster.accessFrom(from));
  const path = `/api/v1/nodes/${node}${status ? "/status" : ""}`;
  const answer = await cluster.patch(path, type, body, client);
  client.close();
  return answer;
}

let writes = 0;
/** A patch of the status. Each differs from the one before: a patch that changes nothing is allowed. */
export const condition = (type: string) => ({
  status: { conditions: [{ type, status: "True", reason: `Test${writes++}`, message: "" }] },
});

/** The API server enforces a new policy seconds after it has stored it. What was allowed until then is taken back. */
export async function policyEnforced(cluster: Cluster): Promise<void> {
  await eventually(async () =>
    expect(await patchNode(cluster, condition("Probe"), onStatus)).toMatchObject({
      failure: { kind: "forbidden" },
    }),
  );
  const body = { status: { conditions: [{ type: "Probe", $patch: "delete" }] } };
  await cluster.patch("/api/v1/nodes/node-1/status", merge.type, body);
}
