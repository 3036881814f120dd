import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { foundIn, placeText } from "./objects";

export type Resource = "memory" | "cpu";

/** The limits of a container or a pod; `0` where there is none, which means the same. */
export interface Limits extends Readonly<Record<Resource, string>> {
  /** What stands in the place of a map; empty: nothing else. */
  readonly wrong: string;
}

export function limitsIn({ resources }: Tree): Limits {
  const { limits } = tree(resources);
  const { memory, cpu } = tree(limits);
  const isMap = typeof limits === "object" && !Array.isArray(limits);
  return {
    memory: text(memory ?? "0"),
    cpu: text(cpu ?? "0"),
    wrong: isMap ? "" : text(JSON.stringify(limits)),
  };
}

/** What objects beside the pods make of their limits. */
export interface LimitFacts {
  readonly ranges: {
    readonly name: string;
    readonly namespace: string;
    /** Of one container. */
    readonly max: Tree;
    /** What a container without a limit gets. */
    readonly byDefault: Tree;
  }[];
  readonly autoscalers: {
    readonly name: string;
    /** `DaemonSet`, its namespace and name. */
    readonly target: readonly string[];
    /** Of one container each, or of all others: `*`. */
    readonly policies: readonly Tree[];
  }[];
}

export const noLimits = (): LimitFacts => ({ ranges: [], autoscalers: [] });

/** Adds an object, if it is a LimitRange, or a VerticalPodAutoscaler that changes pods. */
export function addLimits({ ranges, autoscalers }: LimitFacts, object: Tree): void {
  const spec = tree(object.spec);
  const found = foundIn(null, object);
  const [name, namespace] = [placeText(found), found.namespace ?? "default"];
  if (object.kind === "LimitRange")
    // The API server takes the maximum for a default that is missing.
    for (const { type, max, default: given } of list(spec.limits).map(tree))
      if (type === "Container")
        ranges.push({ name, namespace, max: tree(max), byDefault: { ...tree(max), ...tree(given) } });
  // YAML reads Off as false.
  const isOff = /^(?:off|false)$/i.test(text(tree(spec.updatePolicy).updateMode));
  if (object.kind !== "VerticalPodAutoscaler" || isOff) return;
  const target = tree(spec.targetRef);
  const policies = list(tree(spec.resourcePolicy).containerPolicies).map(tree);
  autoscalers.push({ name, target: [text(target.kind), namespace, text(target.name)], policies });
}
