import { beyond, listFrom, type Truth, truth } from "../../findings/seen";
import type { readNode } from "../read/needs";
import { isYoung } from "../read/pod";
import type { RegistrarSet } from "../read/set";

// On which nodes a DaemonSet's controller makes pods.

/** The controller lets the pods of every DaemonSet tolerate those that Kubernetes sets while a node has a trouble. */
const OF_KUBERNETES = /^node\.kubernetes\.io\/(?!out-of-service$)/;

/** The taints that keep a DaemonSet's pods from a node. */
export const repelling = ({ name, tolerations }: RegistrarSet, { taints }: ReturnType<typeof readNode>) =>
  listFrom(taints).filter(({ key, value, effect }) => {
    const others = tolerations.filter(
      (one) =>
        (one.effect === "" || one.effect === effect) &&
        (one.key === key || (one.key === "" && one.operator === "Exists")),
    );
    const isTolerated = listFrom(others).contains((one) => {
      if (one.operator === "Exists") return true;
      return ["", "Equal"].includes(one.operator) ? one.value === value : truth(newTo(name, one.operator));
    });
    const keepsAway = ["NoSchedule", "NoExecute"].includes(effect) || newTo(name, effect);
    return (
      !OF_KUBERNETES.test(key) && effect !== "PreferNoSchedule" && truth(keepsAway).and(isTolerated.not())
    );
  });

/** What Kubernetes has learnt since, as the operator Gt. */
const newTo = (name: string, word: string) => {
  const text = `doctor does not know what ${word} means in a taint or toleration`;
  return { ...beyond("daemonsets", name), why: { kind: "beyond", text } } as const;
};

/** Its controller has had the time to count the nodes. */
export const wantsNone = (set: RegistrarSet, nowMs: number): Truth =>
  set.counts.is(({ desired }) => desired === 0).and(!isYoung(set, nowMs));
/** The word for it, and what it means. */
export const WANTS_NONE = "WantsNone";
export const NONE_FITS = "no node fits its nodeSelector, affinity and tolerations";
