import { createApiClient } from "../../../src/node-readiness/api/client";
import type { ApiAnswer } from "../../../src/node-readiness/api/failure";
import { DRIVER } from "../support/controlled-registrations";
import { FOREIGN_TAINT, STARTUP_TAINT } from "../support/fixture";
import { type Cluster, startCluster, writeManifest } from "./support/cluster";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

const { signal } = new AbortController();
const OWN_CONDITION = `${DRIVER}/Registered`;

async function patch(
  body: object,
  { node = "node-1", from = "node-1", status = false, type = "json-patch" } = {},
): Promise<ApiAnswer> {
  const client = createApiClient(await cluster.accessFrom(from));
  const path = `/api/v1/nodes/${node}${status ? "/status" : ""}`;
  const answer = await client.call(
    { method: "PATCH", path, body, contentType: `application/${type}+json` },
    signal,
  );
  client.close();
  return answer;
}

const condition = (type: string) => ({
  status: { conditions: [{ type, status: "True", reason: "Test", message: "" }] },
});
const merge = { type: "strategic-merge-patch" };
const onStatus = { ...merge, status: true };

describe("the policy and RBAC that manifest writes", () => {
  beforeEach(async () => {
    for (const node of ["node-1", "node-2"]) await cluster.setTaints(node, [FOREIGN_TAINT, STARTUP_TAINT]);
  });

  test("allow to remove the startup taint from the own node", async () => {
    expect(await patch([{ op: "remove", path: "/spec/taints/1" }])).toMatchObject({ kind: "answered" });
    expect((await cluster.node("node-1")).taints).toEqual([FOREIGN_TAINT]);
  });

  test("allow to set the own condition on the own node, and nobody's is lost", async () => {
    expect(await patch(condition(OWN_CONDITION), onStatus)).toMatchObject({ kind: "answered" });
    const { conditions } = await cluster.node("node-1");
    expect(conditions).toMatchObject([{ type: OWN_CONDITION, status: "True" }]);
  });

  test.each<[string, object, Parameters<typeof patch>[1], string]>([
    [
      "another node's taint",
      [{ op: "remove", path: "/spec/taints/1" }],
      { node: "node-2" },
      "its own node only",
    ],
    [
      "another node's condition",
      condition(OWN_CONDITION),
      { ...onStatus, node: "node-2" },
      "its own node only",
    ],
    ["somebody else's taint", [{ op: "remove", path: "/spec/taints/0" }], {}, "its startup taints only"],
    ["all taints", [{ op: "remove", path: "/spec/taints" }], {}, "its startup taints only"],
    [
      "a new taint",
      [{ op: "add", path: "/spec/taints/-", value: { key: "mine", effect: "NoExecute" } }],
      {},
      "add no taint",
    ],
    [
      "another effect of a taint",
      [{ op: "replace", path: "/spec/taints/0/effect", value: "NoSchedule" }],
      {},
      "add no taint",
    ],
    ["a label", { metadata: { labels: { pool: "mine" } } }, merge, "nothing else of a node"],
    ["an annotation", { metadata: { annotations: { a: "b" } } }, merge, "nothing else of a node"],
    ["that it takes no pods", { spec: { unschedulable: true } }, merge, "nothing else of a node"],
    [
      "a label by way of its status",
      { metadata: { labels: { a: "b" } } },
      onStatus,
      "nothing else of a node",
    ],
    ["kubelet's condition", condition("Ready"), onStatus, "its own condition only"],
    ["its capacity", { status: { capacity: { cpu: "64" } } }, onStatus, "nothing else of a node's status"],
  ])("refuse to change %s", async (_what, body, options, why) => {
    const before = await cluster.node(options?.node ?? "node-1");
    const answer = await patch(body, options);
    expect(answer).toMatchObject({ kind: "failed", failure: { kind: "forbidden" } });
    expect(JSON.stringify(answer)).toContain(why);
    expect(await cluster.node(options?.node ?? "node-1")).toEqual(before);
  });

  test("allow nothing else: no list of nodes, no other object", async () => {
    const client = createApiClient(await cluster.accessFrom("node-1"));
    for (const path of ["/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces/kube-system/secrets"])
      expect(await client.call({ method: "GET", path }, signal)).toMatchObject({
        kind: "failed",
        failure: { kind: "forbidden" },
      });
    client.close();
  });

  test("hold a token that is bound to no pod to nothing", async () => {
    const token = await cluster.controlPlane.kubectl(
      ...["create", "token", "disk-csi-example-com-node", "--namespace=kube-system"],
    );
    const access = await cluster.accessFrom("node-1");
    const client = createApiClient({ ...access, token: { kind: "value", value: token.trim() } });
    const answer = await client.call(
      {
        method: "PATCH",
        path: "/api/v1/nodes/node-1",
        body: [{ op: "remove", path: "/spec/taints/1" }],
        contentType: "application/json-patch+json",
      },
      signal,
    );
    expect(answer).toMatchObject({ kind: "failed", failure: { kind: "forbidden" } });
    client.close();
  });
});

test("what manifest writes for every driver of a node passes the API server's validation", async () => {
  const words = ["--node-wide", "--image=registrar:v1"];
  const { execFileSync } = await import("node:child_process");
  const yaml = execFileSync(process.execPath, [
    "dist/cli.js",
    "manifest",
    ...words,
    "--startup-taint={driver}/agent-not-ready:NoExecute",
    "--node-condition={driver}/Registered",
  ]).toString();
  expect(await cluster.apply(yaml)).toContain("validatingadmissionpolicy");
  const policy = await cluster.controlPlane.kubectl(
    ...["get", "validatingadmissionpolicy", "csi-registrar", "-o", "json"],
  );
  expect(JSON.parse(policy).status?.typeChecking?.expressionWarnings ?? []).toEqual([]);
  await expect(writeManifest("--startup-taint=node.kubernetes.io/not-ready")).rejects.toThrow();
});
