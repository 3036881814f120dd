import { RegistrarError } from "../base/errors";
import type { NodeView, Taint } from "./api/node";
import type { PatchOperation } from "./api/node-api";
import { fillIn, isTemplate } from "./driver-template";

/** Which taints are startup taints of a driver. */
export interface StartupTaint {
  /** A taint's key; `{driver}` in it stands for the driver's name. */
  readonly key: string;
  /** Undefined: taints of every effect. */
  readonly effect: string | undefined;
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/** Taints that others keep: who takes them off gets them back, and a node in trouble gets pods. */
const KEPT_BY_OTHERS: ReadonlyMap<string, string> = new Map([
  ["node.kubernetes.io", "Kubernetes' node controllers put it on and take it off"],
  ["node.cloudprovider.kubernetes.io", "the cloud's controller takes it off"],
  [
    "readiness.k8s.io",
    "the node readiness controller takes it off: have this registrar keep a node condition for it",
  ],
]);

/**
 * Reads `KEY` or `KEY:Effect`. Throws INVALID_OPTION for what can be no taint's key or effect, and for taints that
 * Kubernetes' own controllers keep.
 */
export function parseStartupTaint(text: string): StartupTaint {
  const [key = "", effect, ...rest] = text.split(":");
  const refuse = (why: string): never => {
    throw new RegistrarError("INVALID_OPTION", `startup taint ${JSON.stringify(text)}: ${why}`);
  };
  if (key.includes("=")) refuse("give the key without a value, as in example.com/agent-not-ready:NoSchedule");
  if (!isTemplate(key))
    refuse(
      "the key must be NAME or DNS-NAME/NAME, as example.com/agent-not-ready is; with {driver} DNS-NAME/NAME",
    );
  if (rest.length > 0 || (effect !== undefined && !EFFECTS.includes(effect)))
    refuse(`the effect must be one of ${EFFECTS.join(", ")}`);
  const [prefix = ""] = key.split("/");
  const keeper = KEPT_BY_OTHERS.get(prefix);
  if (keeper !== undefined) refuse(keeper);
  return { key, effect };
}

/** The startup taints of one driver, without those that its name would make others'. */
export function startupTaintsOf(
  driverName: string,
  startupTaints: readonly StartupTaint[],
): readonly StartupTaint[] {
  return startupTaints.flatMap(({ key: template, effect }) => {
    const key = fillIn(template, driverName);
    return key === undefined ? [] : [{ key, effect }];
  });
}

/** Those of a Node's taints that are meant. */
export function findTaints(node: NodeView, wanted: readonly StartupTaint[]): readonly Taint[] {
  return node.taints.filter((taint) =>
    wanted.some(({ key, effect }) => taint.key === key && (effect === undefined || taint.effect === effect)),
  );
}

/**
 * Takes taints off the Node and leaves every other one alone, whoever writes at the same time. `spec.taints` is one
 * atomic list, so each removal is preceded by a test that this very taint still stands at this place: where it does not,
 * the API server rejects the whole patch. From the last place to the first, as each removal moves those behind it.
 * Undefined where none of them is there.
 */
export function planRemoval(
  node: NodeView,
  wanted: readonly StartupTaint[],
): readonly PatchOperation[] | undefined {
  const found = findTaints(node, wanted);
  if (found.length === 0) return undefined;
  const places = found.map((taint) => node.taints.indexOf(taint)).reverse();
  return places.flatMap((place): PatchOperation[] => [
    { op: "test", path: `/spec/taints/${place}`, value: node.taints[place] },
    { op: "remove", path: `/spec/taints/${place}` },
  ]);
}

/** As kubectl writes it. */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ""}:${effect}`;
}
