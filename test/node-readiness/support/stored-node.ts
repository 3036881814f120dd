import type { NodeCondition, Taint } from "../../../src/node-readiness/api/node";

/** A Node object as a server keeps it. */
export interface StoredNode {
  readonly kind: "Node";
  readonly apiVersion: "v1";
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly taints?: readonly Taint[] };
  readonly status: { readonly conditions: readonly NodeCondition[] };
}

/** Applies a JSON Patch of tests and removals of taints; undefined if a test fails. */
export function applyJsonPatch(
  node: StoredNode,
  patch: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[],
): StoredNode | undefined {
  const taints = [...(node.spec.taints ?? [])];
  for (const { op, path, value } of patch) {
    const place = Number(path.replace("/spec/taints/", ""));
    if (op === "test" && JSON.stringify(taints[place]) !== JSON.stringify(value)) return undefined;
    if (op === "remove") taints.splice(place, 1);
  }
  return { ...node, spec: { taints } };
}

/** Merges conditions by type, as the API server does with a strategic merge patch. */
export function mergeConditions(
  node: StoredNode,
  patch: { readonly status: { readonly conditions: readonly NodeCondition[] } },
): StoredNode {
  const given = patch.status.conditions;
  const isDeleted = (condition: object) => "$patch" in condition;
  const merged = node.status.conditions.map((old) => ({
    ...old,
    ...given.find(({ type }) => type === old.type),
  }));
  const added = given.filter(({ type }) => node.status.conditions.every((old) => old.type !== type));
  const conditions = [...merged, ...added].filter((condition) => !isDeleted(condition));
  return { ...node, status: { conditions } };
}
