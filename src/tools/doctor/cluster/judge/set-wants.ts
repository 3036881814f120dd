import type { Truth } from "../../findings/seen";
import type { readNode } from "../read/needs";
import { isYoung } from "../read/pod";
import type { RegistrarSet } from "../read/set";

// On which nodes a DaemonSet's controller makes pods.

/** The controller lets the pods of every DaemonSet tolerate those that Kubernetes sets. */
const OF_KUBERNETES = /^node\.kubernetes\.io\//;

/** The taints that keep a DaemonSet's pods from a node. What the operator Gt, or one yet to come, tolerates is not known. */
export const repelling = ({ tolerations }: RegistrarSet, { taints }: ReturnType<typeof readNode>) =>
  taints.filter(
    (taint) =>
      !OF_KUBERNETES.test(taint.key) &&
      taint.effect !== "PreferNoSchedule" &&
      !tolerations.some(
        ({ key, operator, value, effect }) =>
          (effect === "" || effect === taint.effect) &&
          (key === taint.key || (key === "" && operator === "Exists")) &&
          (!["", "Equal"].includes(operator) || value === taint.value),
      ),
  );

/** Its controller has had the time to count the nodes. */
export const wantsNone = (set: RegistrarSet, nowMs: number): Truth =>
  set.counts.is(({ desired }) => desired === 0).and(!isYoung(set, nowMs));
/** The word for it, and what it means. */
export const WANTS_NONE = "WantsNone";
export const NONE_FITS = "no node fits its nodeSelector, affinity and tolerations";
