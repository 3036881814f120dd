import type { Told } from "../../findings/opened";
import { type Gap, words } from "../../findings/seen";
import { firstOf, together } from "../../findings/words";
import { type HostPod, MOST_NODES } from "../read/owners";
import { KINDS } from "../read/reader";

/** What could not be read, as a sentence. */
export function lackText(gaps: readonly Gap[]): string {
  const kinds: Readonly<Record<string, string>> = KINDS;
  const kindsOf = (some: readonly Gap[]) => together([...new Set(some.map(({ part }) => `${kinds[part]}s`))]);
  const isOf = (kind: Gap["why"]["kind"]) => gaps.filter(({ why }) => why.kind === kind);
  const lists = isOf("list");
  const objects = gaps.filter(({ why }) => !["list", "cut", "beyond", "above"].includes(why.kind));
  const pods = gaps.flatMap(({ subject, why }) => (why.kind === "above" ? `${subject} (${why.path})` : []));
  return [
    pods.length === 0 ? [] : `perhaps a pod with a directory of the host serves it: ${firstOf(pods)}`,
    isOf("cut")
      .slice(0, 1)
      .map(() => LOOKS),
    [...new Set(gaps.flatMap(({ why }) => (why.kind === "beyond" ? (why.text ?? LOOKED) : [])))],
    lists.length === 0 ? [] : `${kindsOf(lists)} could not be listed`,
    objects.length === 0 ? [] : `some of the ${kindsOf(objects)} could not be judged`,
  ]
    .flat()
    .join(", and ");
}

const LOOKED = "doctor looked only at what was asked for";
const LOOKS = `doctor looks at the pods of ${MOST_NODES} nodes at most`;

/** Who made a pod. */
export function ownerText({ owners, isLeaving }: HostPod): string {
  if (isLeaving) return "it is being deleted";
  // Of a static pod it is the Node.
  const owner = owners.find(({ isController }) => isController);
  if (owner === undefined) return "no controller";
  return owner.kind === "Node" ? "a static pod: a file on its node" : `${owner.kind} ${owner.name}`;
}

/** Equal for pods that one change would fix. */
export const ownerKey = (pod: HostPod): Told<string> => {
  const [namespace] = pod.name.split("/");
  const isAlone = pod.owners.every(({ isController }) => !isController);
  return words`${JSON.stringify([isAlone ? pod.name : namespace, ownerText(pod)])} ${pod.registrar.told("")}`;
};
