import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { isTemplate } from "../../findings/words";
import type { Deployment, ManifestFacts } from "./deployments";
import { nameOf } from "./objects";

type Resource = "memory" | "cpu";
export type Limits = ReturnType<typeof limitsOn>;

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** A Kubernetes quantity as bytes or CPUs, by the grammar of `ParseQuantity`; undefined if it is invalid or missing. */
export function quantityOf(quantity: string): number | undefined {
  const [, digits, exponent, unit = ""] =
    /^([+-]?(?:\d+(?:\.\d*)?|\.\d*)?)(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))$/.exec(quantity.trim()) ??
    [];
  if (digits === undefined || quantity.trim() === "") return undefined;
  // Kubernetes reads a missing number as 0.
  const number = /\d/.test(digits) ? digits : "0";
  if (BINARY.includes(unit)) return Number(number) * 1024 ** (BINARY.indexOf(unit) + 1);
  return Number(`${number}e${exponent ?? (DECIMAL.indexOf(unit) - DECIMAL.indexOf("")) * 3}`);
}

export const amountOf = (quantity: string) => quantityOf(quantity) ?? 0;
/** Whether an amount is above a bound; one that is missing or 0 bounds nothing. */
export const exceeds = (amount: number, bound: string) =>
  amount > (amountOf(bound) || Number.POSITIVE_INFINITY);

/** A limit of a container or a pod. A missing limit is `0`, which Kubernetes takes for no limit, too. */
export function limitIn({ resources }: Tree, resource: Resource): string {
  const { limits } = tree(resources);
  const template = [resources, limits].find((whole) => typeof whole === "string" && isTemplate(whole));
  return text(template ?? tree(limits)[resource] ?? "0");
}

/** The limits on a container: its own, or its namespace's default, and its pod's. */
export function limitsOn(one: Deployment, { limitRanges }: ManifestFacts, resource: Resource) {
  const { container, pod } = one.source;
  const [own, ofPod] = [limitIn(container, resource), limitIn(pod, resource)];
  const beside = limitRanges.filter(
    ({ metadata }) => (tree(metadata).namespace ?? "default") === (one.object.namespace ?? "default"),
  );
  const items = beside.flatMap((object) =>
    list(tree(object.spec).limits).map((item) => {
      const amountIn = (field: string) => text(tree(tree(item)[field])[resource]);
      return {
        of: `LimitRange ${nameOf(object)}`,
        type: tree(item).type,
        most: amountIn("max"),
        least: amountIn("min"),
        given: amountIn("default"),
        ratio: amountIn("maxLimitRequestRatio"),
        // The API server takes the maximum for a default that is missing.
        byDefault: amountIn("default") || amountIn("max"),
      };
    }),
  );
  const ranges = items.filter(({ type }) => type === "Container");
  const bounds = [
    { lead: "has", of: "its limit", most: own },
    { lead: "is in a pod with", of: "its pod", most: ofPod },
    ...(own === "0" ? ranges : []).map(({ of, byDefault: most }) => ({ lead: "gets", of, most })),
  ].map((bound) => ({ ...bound, amount: amountOf(bound.most) }));
  const request = text(tree(tree(container.resources).requests)[resource] ?? "0");
  const podRanges = items.filter(({ type }) => type === "Pod");
  return { one, resource, own, ofPod, request, ranges, podRanges, bounds };
}
