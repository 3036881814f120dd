import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";
import { fillIn, templateProblem } from "./driver-template";
import type { NodeView, Taint } from "./node-api";

export type StartupTaint = ReturnType<typeof parseStartupTaint>;

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/** Domains of controllers' taints: without them, pods would be scheduled to an unhealthy node. */
const KEPT_BY_OTHERS = ["node.kubernetes.io", "node.cloudprovider.kubernetes.io", "readiness.k8s.io"];

/** Reads `KEY` (every effect) or `KEY:Effect`. Throws INVALID_OPTION for invalid taints, and for those of controllers. */
export function parseStartupTaint(text: string) {
  const [key = "", effect, ...rest] = text.split(":");
  const problem = key.includes("=")
    ? "give the key without a value, as in example.com/agent-not-ready:NoSchedule"
    : (templateProblem("the key", key, "example.com/agent-not-ready") ??
      (rest.length > 0 || (effect !== undefined && !EFFECTS.includes(effect))
        ? `the effect must be one of ${EFFECTS.join(", ")}`
        : KEPT_BY_OTHERS.includes(key.split("/")[0] ?? "")
          ? "its own controller removes it"
          : undefined));
  if (problem !== undefined) throw invalidOption(`startup taint ${quoteText(text)}: ${problem}`);
  return { key, effect };
}

/** The startup taints of one driver, except those that would belong to others because of its name. */
export function startupTaintsOf(driverName: string, startupTaints: readonly StartupTaint[]) {
  return startupTaints.flatMap(({ key: template, effect }) => {
    const key = fillIn(template, driverName);
    return key === undefined ? [] : { key, effect };
  });
}

export function findTaints(node: NodeView, wanted: readonly StartupTaint[]): readonly Taint[] {
  return node.taints.filter((taint) =>
    wanted.some(({ key, effect }) => taint.key === key && (effect === undefined || taint.effect === effect)),
  );
}

/** The patch that removes taints, the last one first; undefined if the Node has none of them. `spec.taints` is an atomic list. */
export function planRemoval(node: NodeView, wanted: readonly StartupTaint[]): readonly object[] | undefined {
  const found = findTaints(node, wanted);
  if (found.length === 0) return undefined;
  const places = found.map((taint) => node.taints.indexOf(taint)).reverse();
  return places.flatMap((place) => [
    { op: "test", path: `/spec/taints/${place}`, value: node.taints[place] },
    { op: "remove", path: `/spec/taints/${place}` },
  ]);
}

/** As kubectl writes it. */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ""}:${effect}`;
}
