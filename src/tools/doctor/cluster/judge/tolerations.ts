import type { readNode } from "../read/needs";
import type { RegistrarSet } from "../read/set";

/** The controller lets the pods of every DaemonSet tolerate those that Kubernetes sets. */
const OF_KUBERNETES = /^node\.kubernetes\.io\//;

/** The taints that keep a DaemonSet's pods from a node. */
export const repelling = ({ tolerations }: RegistrarSet, { taints }: ReturnType<typeof readNode>) =>
  taints.filter(
    (taint) =>
      !OF_KUBERNETES.test(taint.key) &&
      taint.effect !== "PreferNoSchedule" &&
      !tolerations.some(
        ({ key, operator, value, effect }) =>
          (effect === "" || effect === taint.effect) &&
          (key === taint.key || (key === "" && operator === "Exists")) &&
          (operator === "Exists" || value === taint.value),
      ),
  );
