import { list, type Tree, text, tree } from "../../../../kube-api/objects";
import { nameOf } from "./objects";

export type LimitedResource = "memory" | "cpu";

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

/** A limit of a container or a pod. A missing limit is `0`, which Kubernetes takes for no limit, too. */
function limitIn({ resources }: Tree, resource: LimitedResource): string {
  if (typeof resources === "string") return resources;
  const { limits } = tree(resources);
  return typeof limits === "string" ? limits : text(tree(limits)[resource] ?? "0");
}

/** The limits of a container and of its pod. */
export const limitsOf = (container: Tree, pod: Tree) =>
  forEach((resource) => ({ own: limitIn(container, resource), ofPod: limitIn(pod, resource) }));

const forEach = <R>(read: (resource: LimitedResource) => R) => ({ memory: read("memory"), cpu: read("cpu") });

export type LimitRange = ReturnType<typeof readLimitRange>;

export function readLimitRange({ metadata, spec }: Tree) {
  const items = list(tree(spec).limits).map(tree);
  return {
    name: nameOf({ metadata }),
    namespace: text(tree(metadata).namespace) || "default",
    containers: items
      .filter(({ type }) => type === "Container")
      .map((item) => ({
        max: forEach((resource) => text(tree(item.max)[resource])),
        byDefault: forEach((resource) => text(tree(item.default)[resource])),
      })),
  };
}
