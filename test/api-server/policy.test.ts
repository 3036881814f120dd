import { isDeepStrictEqual } from "node:util";
import { createApiClient } from "../../src/kube-api/client";
import type { Outcome } from "../../src/kube-api/failure";
import { text, tree } from "../../src/kube-api/objects";
import { createNodeApi } from "../../src/node-readiness/node-api";
import { DRIVER } from "../node-readiness/support/controlled-registrations";
import { FOREIGN_TAINT, STARTUP_TAINT } from "../node-readiness/support/fixture";
import { eventually } from "../support/eventually";
import { runCommand } from "../support/run-command";
import { ACCOUNT, useCluster } from "./support/cluster";
import { nodeFields } from "./support/node-fields";

/** The API server enforces a new policy seconds after it has stored it. What was allowed until then is taken back. */
const cluster = useCluster(async (started) => {
  await eventually(async () => expect(await patch(condition("Probe"), onStatus)).toMatchObject(FORBIDDEN));
  const body = { status: { conditions: [{ type: "Probe", $patch: "delete" }] } };
  await started.patch("/api/v1/nodes/node-1/status", merge.type, body);
});

const { signal } = new AbortController();
const got = async (...words: readonly string[]) =>
  JSON.parse(await cluster.controlPlane.kubectl("get", ...words, "-o", "json"));
const merge = { type: "strategic-merge-patch" };
const onStatus = { ...merge, status: true };
type PatchOptions = Partial<Record<"node" | "from" | "type", string>> & { readonly status?: boolean };

/** Patches a Node with the rights of a pod on the node `from`. */
async function patch(body: object, options: PatchOptions = {}): Promise<Outcome<unknown>> {
  const { node = "node-1", from = "node-1", status = false, type = "json-patch" } = options;
  const client = createApiClient(await cluster.accessFrom(from));
  const path = `/api/v1/nodes/${node}${status ? "/status" : ""}`;
  const answer = await cluster.patch(path, type, body, client);
  client.close();
  return answer;
}

let writes = 0;
/** A patch of the status. Each differs from the one before: a patch that changes nothing is allowed. */
const condition = (type: string) => ({
  status: { conditions: [{ type, status: "True", reason: `Test${writes++}`, message: "" }] },
});
const OWN_CONDITION = `${DRIVER}/Registered`;
const CONDITION = condition(OWN_CONDITION);
const sized = (field: string, length: number) => ({
  status: { conditions: [{ ...CONDITION.status.conditions[0], [field]: "x".repeat(length) }] },
});
/** A record of who wrote so many labels. */
const claimOf = (labels: number) => {
  const keys = Array.from({ length: labels }, (_, at) => `f:example.com/label-${at}-${"x".repeat(20)}`);
  const fieldsV1 = { "f:metadata": { "f:labels": Object.fromEntries(keys.map((key) => [key, {}])) } };
  const write = { manager: "x", operation: "Update", apiVersion: "v1", time: "2026-01-01T00:00:00Z" };
  return { ...write, fieldsType: "FieldsV1", fieldsV1 };
};
const REMOVAL = { op: "remove", path: "/spec/taints/1" } as const;
const EFFECT = "/spec/taints/0/effect";
const effect = "NoExecute";
const FORBIDDEN = { kind: "failed", failure: { kind: "forbidden" } };

describe("the policy and RBAC that manifest writes", () => {
  beforeEach(async () => {
    for (const node of ["node-1", "node-2"]) await cluster.setTaints(node, [FOREIGN_TAINT, STARTUP_TAINT]);
  });

  test("allow to set the own condition on the own node, and keep the conditions of others", async () => {
    expect(await patch(sized("message", 1_024), onStatus)).toMatchObject({ kind: "done" });
    expect(await patch(condition(OWN_CONDITION), onStatus)).toMatchObject({ kind: "done" });
    const { conditions } = await cluster.node("node-1");
    expect(conditions).toMatchObject([{ type: OWN_CONDITION, status: "True" }]);
  });

  test.each<[string, object, PatchOptions, string]>([
    ["another node's taint", [REMOVAL], { node: "node-2" }, "its own node only"],
    ["another node's condition", CONDITION, { ...onStatus, node: "node-2" }, "its own node only"],
    ["somebody else's taint", [{ op: "remove", path: "/spec/taints/0" }], {}, "its startup taints only"],
    ["all taints", [{ op: "remove", path: "/spec/taints" }], {}, "its startup taints only"],
    ["a taint", [{ op: "add", path: "/spec/taints/-", value: { key: "mine", effect } }], {}, "add no taint"],
    ["the effect of a taint", [{ op: "replace", path: EFFECT, value: "NoSchedule" }], {}, "add no taint"],
    ["a label", { metadata: { labels: { pool: "mine" } } }, merge, "nothing else of a node"],
    ["a label by its status", { metadata: { labels: { a: "b" } } }, onStatus, "nothing else of a node"],
    ["kubelet's condition", condition("Ready"), onStatus, "its own condition only"],
    ["a condition's message to a long one", sized("message", 1_025), onStatus, "short texts"],
    ["a condition's reason to a long one", sized("reason", 65), onStatus, "short texts"],
    ["managedFields to long ones", { metadata: { managedFields: [claimOf(5_000)] } }, merge, "managedFields"],
    ["its capacity", { status: { capacity: { cpu: "64" } } }, onStatus, "nothing else of a node's status"],
  ])("refuse to change %s", async (_what, body, options, why) => {
    const before = await cluster.node(options?.node ?? "node-1");
    const answer = await patch(body, options);
    expect(answer).toMatchObject(FORBIDDEN);
    expect(JSON.stringify(answer)).toContain(why);
    expect(await cluster.node(options?.node ?? "node-1")).toEqual(before);
  });

  test("freeze each field of the Node that the API server lets an administrator change", async () => {
    const fields = await nodeFields(cluster);
    expect(fields.length).toBeGreaterThan(30);
    const stored = async () => {
      const { metadata, ...node } = await got("node", "node-2", "--show-managed-fields=false");
      return { ...node, metadata: { ...metadata, resourceVersion: "" } };
    };
    const changed: string[] = [];
    for (const { part, field, body } of fields) {
      const status = part === "status";
      const before = await stored();
      const answer = await patch(body, { type: "merge-patch", node: "node-2", from: "node-2", status });
      expect([field, await stored()]).toEqual([field, before]);
      await cluster.patch(`/api/v1/nodes/node-2${status ? "/status" : ""}`, "merge-patch", body);
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

  test("refuse a patch that makes another client the owner of a field, which it would remove by its next apply", async () => {
    const applied = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1", labels: { mine: "1" } } };
    await cluster.controlPlane.apply([applied], "--field-manager=somebody");
    const managers = async () => {
      const { managedFields } = (await got("node", "node-1", "--show-managed-fields")).metadata;
      return managedFields.filter(({ operation }: { readonly operation: string }) => operation === "Apply");
    };
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
      expect(answer).toMatchObject(FORBIDDEN);
      expect(await managers()).toEqual(before);
    }
    expect(await patch([REMOVAL])).toMatchObject({ kind: "done" });
  });

  test("allow to remove the startup taint that another client applied", async () => {
    const metadata = { name: "node-1", labels: { mine: "1" } };
    const spec = { taints: [FOREIGN_TAINT, STARTUP_TAINT] };
    const applied = { apiVersion: "v1", kind: "Node", metadata, spec };
    await cluster.controlPlane.apply([applied], "--field-manager=somebody");
    expect(await patch([REMOVAL])).toMatchObject({ kind: "done" });
    expect((await cluster.node("node-1")).taints).toEqual([FOREIGN_TAINT]);
  });

  test("allow to remove the own condition, and no other", async () => {
    const remove = (type: string) => ({ status: { conditions: [{ $patch: "delete", type }] } });
    await cluster.writeStatus("node-1", condition("Ready").status);
    await patch(condition(OWN_CONDITION), onStatus);
    expect(await patch(remove("Ready"), onStatus)).toMatchObject({ failure: { kind: "forbidden" } });
    expect(await patch(remove(OWN_CONDITION), onStatus)).toMatchObject({ kind: "done" });
    expect((await cluster.node("node-1")).conditions).toMatchObject([{ type: "Ready" }]);
  });

  test("allow to read every Node, which RBAC cannot prevent, and nothing else", async () => {
    const client = createApiClient(await cluster.accessFrom("node-1"));
    for (const path of ["/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces/kube-system/secrets"])
      expect(await client.call({ method: "GET", path }, signal)).toMatchObject(FORBIDDEN);
    const watched: string[] = [];
    await client.follow("/api/v1/nodes?watch=true&timeoutSeconds=1", {
      ...{ signal, idleMs: 60_000, onOpen: () => {} },
      onObject: (line) => watched.push(text(tree(tree(tree(line).object).metadata).name)),
    });
    expect(watched).toEqual(["node-1", "node-2"]);
    client.close();
  });

  test("allow nothing to a token that is bound to no pod", async () => {
    const words = ["create", "token", ACCOUNT, "--namespace=kube-system"];
    const token = await cluster.controlPlane.kubectl(...words);
    const client = createApiClient(cluster.accessBy(token.trim()));
    const answer = await createNodeApi(client, "node-1").patchNode([REMOVAL], signal);
    expect(answer).toMatchObject(FORBIDDEN);
    client.close();
  });
});

test("the API server takes what manifest writes for OpenShift", async () => {
  const driver = ["--driver-name=scc.csi.example.com", "--image=r:1", "--driver-image=d:1"];
  const { stdout } = await runCommand("manifest", ...driver, "--distribution=openshift");
  const taken = await cluster.apply(stdout);
  for (const kind of ["serviceaccount", "rolebinding.rbac.authorization.k8s.io", "daemonset.apps"])
    expect(taken).toContain(`${kind}/scc-csi-example-com-node serverside-applied`);
});

describe("what manifest writes for every driver of a node", () => {
  const nodeWide = async (...words: readonly string[]) => {
    const flags = ["--startup-taint={driver}/not-ready:NoExecute", "--node-condition={driver}/Ready"];
    const fixed = ["--node-wide", "--image=r:1", `--name=${ACCOUNT}`];
    return (await runCommand("manifest", ...fixed, ...flags, ...words)).stdout;
  };
  const removable = async (domains: readonly string[]) => {
    const removed: string[] = [];
    for (const domain of domains) {
      await cluster.setTaints("node-1", [{ key: `${domain}/not-ready`, effect: "NoExecute" }]);
      const answer = await patch([{ op: "remove", path: "/spec/taints/0" }]);
      const written = await patch(condition(`${domain}/Ready`), onStatus);
      expect(written.kind).toBe(answer.kind);
      if (answer.kind === "done") removed.push(domain);
    }
    return removed;
  };
  const DOMAINS = [DRIVER, "nfs.csi.k8s.io", "node.kubernetes.io", "readiness.k8s.io", "node.cilium.io"];

  test("passes the API server's validation, and leaves out what a driver's name would make others'", async () => {
    await cluster.apply(await nodeWide());
    const policy = await got("validatingadmissionpolicy", ACCOUNT);
    expect(policy.status?.typeChecking?.expressionWarnings ?? []).toEqual([]);
    await eventually(async () => expect(await removable([DRIVER])).toEqual([DRIVER]));
    expect(await removable(DOMAINS)).toEqual([DRIVER, "nfs.csi.k8s.io"]);
  });

  test("allows 64 conditions, with names that a driver can have", async () => {
    await cluster.apply(await nodeWide());
    const named = (names: readonly string[]) => ({
      status: { conditions: names.map((name) => ({ ...condition(`${name}/Ready`).status.conditions[0] })) },
    });
    const names = Array.from({ length: 65 }, (_, at) => `d${at}.csi.example.com`);
    await eventually(async () => expect((await patch(named(names.slice(0, 1)), onStatus)).kind).toBe("done"));
    for (const refused of [names, [`${"x".repeat(64)}.`.repeat(5)]])
      expect(await patch(named(refused), onStatus)).toMatchObject({ failure: { kind: "forbidden" } });
    expect((await patch(named(names.slice(0, 60)), onStatus)).kind).toBe("done");
  });

  test("with a list of drivers allows their taints and conditions alone", async () => {
    await cluster.apply(await nodeWide(`--allow-drivers=x.csi.example.com,${DRIVER}`));
    await eventually(async () => expect(await removable(["nfs.csi.k8s.io"])).toEqual([]));
    expect(await removable([...DOMAINS, "x.csi.example.com"])).toEqual([DRIVER, "x.csi.example.com"]);
  });
});
