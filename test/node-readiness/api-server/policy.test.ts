import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createApiClient } from "../../../src/node-readiness/api/client";
import type { ApiAnswer } from "../../../src/node-readiness/api/failure";
import { eventually } from "../../support/eventually";
import { runCommand } from "../../support/run-command";
import { DRIVER } from "../support/controlled-registrations";
import { FOREIGN_TAINT, STARTUP_TAINT } from "../support/fixture";
import { ACCOUNT, type Cluster, startCluster } from "./support/cluster";
import { nodeFields } from "./support/node-fields";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  // The API server enforces a new policy seconds after it has stored it.
  await eventually(async () =>
    expect(await patch({ metadata: { labels: { probe: `${writes++}` } } }, merge)).toMatchObject({
      failure: { kind: "forbidden" },
    }),
  );
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

/** Each differs from the one before: a patch that changes nothing is allowed. */
let writes = 0;
const condition = (type: string) => ({
  status: { conditions: [{ type, status: "True", reason: `Test${writes++}`, message: "" }] },
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

  test("freeze each field of the Node that the API server lets an administrator change", async () => {
    const fields = await nodeFields(cluster);
    expect(fields.length).toBeGreaterThan(30);
    const stored = async () => {
      const { metadata, ...node } = JSON.parse(
        await cluster.controlPlane.kubectl(
          "get",
          "node",
          "node-2",
          "-o",
          "json",
          "--show-managed-fields=false",
        ),
      );
      return { ...node, metadata: { ...metadata, resourceVersion: "" } };
    };
    const changed: string[] = [];
    for (const { part, field, body } of fields) {
      const status = part === "status";
      const before = await stored();
      const answer = await patch(body, { type: "merge-patch", node: "node-2", from: "node-2", status });
      expect([field, await stored()]).toEqual([field, before]);
      const contentType = "application/merge-patch+json";
      const path = `/api/v1/nodes/node-2${status ? "/status" : ""}`;
      await cluster.admin.call({ method: "PATCH", path, body, contentType }, signal);
      if (isDeepStrictEqual(await stored(), before)) continue;
      changed.push(`${part}.${field}`);
      expect([field, answer]).toMatchObject([field, { failure: { kind: "forbidden" } }]);
    }
    expect(changed).toEqual(
      expect.arrayContaining([
        ...["metadata.annotations", "metadata.finalizers", "metadata.labels", "metadata.ownerReferences"],
        ...["spec.podCIDR", "spec.providerID", "spec.taints", "spec.unschedulable"],
        ...["status.addresses", "status.allocatable", "status.capacity", "status.conditions"],
        ...["status.daemonEndpoints", "status.declaredFeatures", "status.features", "status.images"],
        ...["status.nodeInfo", "status.phase", "status.runtimeHandlers", "status.volumesAttached"],
        ...["status.volumesInUse"],
      ]),
    );
  });

  test("let nobody be made the owner of a field, who would remove it when he applies again", async () => {
    const { controlPlane } = cluster;
    const applied = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1", labels: { mine: "1" } } };
    const file = join(cluster.folder, "node.json");
    writeFileSync(file, JSON.stringify(applied));
    await controlPlane.kubectl("apply", "--server-side", "--field-manager=somebody", "-f", file);
    const managers = async () =>
      JSON.parse(
        await controlPlane.kubectl("get", "node", "node-1", "-o", "json", "--show-managed-fields"),
      ).metadata.managedFields.filter(
        ({ operation }: { readonly operation: string }) => operation === "Apply",
      );
    const before = await managers();
    expect(before).toHaveLength(1);
    const claim = (fields: object) => ({
      metadata: { managedFields: [{ ...before[0], fieldsV1: { ...before[0].fieldsV1, ...fields } }] },
    });
    for (const fields of [
      { "f:spec": { "f:taints": {} } },
      { "f:metadata": { "f:labels": { "f:mine": {}, "f:kubernetes.io/os": {} } } },
    ]) {
      const answer = await patch(claim(fields), { type: "merge-patch" });
      expect(answer).toMatchObject({ kind: "failed", failure: { kind: "forbidden" } });
      expect(await managers()).toEqual(before);
    }
    expect(await patch([{ op: "remove", path: "/spec/taints/1" }])).toMatchObject({ kind: "answered" });
  });

  test("let the startup taint go that somebody applied", async () => {
    const file = join(cluster.folder, "taint.json");
    const metadata = { name: "node-1", labels: { mine: "1" } };
    const spec = { taints: [FOREIGN_TAINT, STARTUP_TAINT] };
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "Node", metadata, spec }));
    const words = ["--server-side", "--force-conflicts", "--field-manager=somebody"];
    await cluster.controlPlane.kubectl("apply", ...words, "-f", file);
    expect(await patch([{ op: "remove", path: "/spec/taints/1" }])).toMatchObject({ kind: "answered" });
    expect((await cluster.node("node-1")).taints).toEqual([FOREIGN_TAINT]);
  });

  test("allow to remove the own condition, and no other", async () => {
    const remove = (type: string) => ({ status: { conditions: [{ $patch: "delete", type }] } });
    await cluster.writeStatus("node-1", condition("Ready").status);
    await patch(condition(OWN_CONDITION), onStatus);
    expect(await patch(remove("Ready"), onStatus)).toMatchObject({ failure: { kind: "forbidden" } });
    expect(await patch(remove(OWN_CONDITION), onStatus)).toMatchObject({ kind: "answered" });
    expect((await cluster.node("node-1")).conditions).toMatchObject([{ type: "Ready" }]);
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

describe("what manifest writes for every driver of a node", () => {
  const nodeWide = async (...words: readonly string[]) => {
    const flags = ["--startup-taint={driver}/not-ready:NoExecute", "--node-condition={driver}/Ready"];
    const { stdout } = await runCommand(
      "manifest",
      "--node-wide",
      "--image=r:1",
      `--name=${ACCOUNT}`,
      ...flags,
      ...words,
    );
    return stdout;
  };
  const removable = async (domains: readonly string[]) => {
    const removed: string[] = [];
    for (const domain of domains) {
      await cluster.setTaints("node-1", [{ key: `${domain}/not-ready`, effect: "NoExecute" }]);
      const answer = await patch([{ op: "remove", path: "/spec/taints/0" }]);
      const written = await patch(condition(`${domain}/Ready`), onStatus);
      expect(written.kind).toBe(answer.kind);
      if (answer.kind === "answered") removed.push(domain);
    }
    return removed;
  };
  const DOMAINS = [DRIVER, "nfs.csi.k8s.io", "node.kubernetes.io", "readiness.k8s.io", "node.cilium.io"];

  test("passes the API server's validation, and leaves out what a driver's name would make others'", async () => {
    await cluster.apply(await nodeWide());
    const policy = await cluster.controlPlane.kubectl(
      ...["get", "validatingadmissionpolicy", ACCOUNT, "-o", "json"],
    );
    expect(JSON.parse(policy).status?.typeChecking?.expressionWarnings ?? []).toEqual([]);
    await eventually(async () => expect(await removable([DRIVER])).toEqual([DRIVER]));
    expect(await removable(DOMAINS)).toEqual([DRIVER, "nfs.csi.k8s.io"]);
  });

  test("with a list of drivers allows their taints and conditions alone", async () => {
    await cluster.apply(await nodeWide(`--allow-drivers=x.csi.example.com,${DRIVER}`));
    await eventually(async () => expect(await removable(["nfs.csi.k8s.io"])).toEqual([]));
    expect(await removable([...DOMAINS, "x.csi.example.com"])).toEqual([DRIVER, "x.csi.example.com"]);
  });
});
