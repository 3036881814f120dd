import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { nameOf } from "./objects";
import type { ManifestFacts, RegistrarContainer } from "./registrars";

export type LimitedResource = "memory" | "cpu";

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** A Kubernetes quantity as bytes or CPUs, by the grammar of `ParseQuantity`; undefined if it is invalid or missing. */
function quantityOf(quantity: string): number | undefined {
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

/** A limit of a container or a pod. A missing limit is `0`, which Kubernetes takes for no limit, too. */
function limitIn({ resources }: Tree, resource: LimitedResource): string {
  const { limits } = tree(resources);
  const whole = [resources, limits].find((one) => typeof one === "string");
  return text(whole ?? tree(limits)[resource] ?? "0");
}

const NAMES = { memory: "memory", cpu: "CPU" };

/**
 * The limits on a container: its own, or its namespace's default, and its pod's; and the maxima beside them. `raise` is undefined
 * for its own.
 */
export function limitsOn(one: RegistrarContainer, { limitRanges }: ManifestFacts, resource: LimitedResource) {
  const { container, pod, object: owner } = one.source;
  const namespaceOf = ({ metadata }: Tree) => text(tree(metadata).namespace) || "default";
  const [own, ofPod] = [limitIn(container, resource), limitIn(pod, resource)];
  const ranges = limitRanges
    .filter((range) => namespaceOf(range) === namespaceOf(owner))
    .flatMap((object) => list(tree(object.spec).limits).map((item) => ({ object, item: tree(item) })))
    .filter(({ item }) => item.type === "Container")
    .map(({ object, item }) => {
      const of = `LimitRange ${nameOf(object)}`;
      const [max, byDefault] = [item.max, item.default].map((amounts) => text(tree(amounts)[resource]));
      return { of, max: { raise: `max in ${of}`, most: max || "0" }, byDefault };
    });
  const limitOf = (most: string) => `a ${NAMES[resource]} limit of ${most}`;
  const bounds = [
    { what: `has ${limitOf(own)}`, raise: undefined, most: own },
    { what: `is in a pod with ${limitOf(ofPod)}`, raise: "the limit of its pod", most: ofPod },
    // The API server takes the maximum for a default that is missing.
    ...(own === "0" ? ranges : []).map(({ of, max, byDefault }) => {
      const bound = byDefault ? { raise: `default in ${of}`, most: byDefault } : max;
      return { what: `gets ${limitOf(bound.most)} from ${of}`, ...bound };
    }),
  ].map((bound) => ({ ...bound, amount: quantityOf(bound.most) }));
  return { bounds, maxima: ranges.map(({ max }) => max) };
}
