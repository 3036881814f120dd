import type { NodeCondition, Taint } from "../../../src/node-readiness/api/node";

/** A Node object as a server keeps it. */
export interface StoredNode {
  readonly kind: "Node";
  readonly apiVersion: "v1";
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly taints?: readonly Taint[] };
  readonly status: { readonly conditions: readonly NodeCondition[] };
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** Applies a JSON Patch of tests and removals; undefined where a test fails. */
export function applyJsonPatch(node: StoredNode, patch: readonly Operation[]): StoredNode | undefined {
  const copy = JSON.parse(JSON.stringify(node)) as StoredNode;
  for (const { op, path, value } of patch) {
    const keys = path.slice(1).split("/");
    const last = keys.pop() ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: a patch may lead anywhere
    const parent = keys.reduce<any>((object, key) => object?.[key], copy);
    if (op === "test" && JSON.stringify(parent?.[last]) !== JSON.stringify(value)) return undefined;
    if (op === "remove" && Array.isArray(parent)) parent.splice(Number(last), 1);
  }
  return copy;
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
