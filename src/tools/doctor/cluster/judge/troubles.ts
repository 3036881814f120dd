import type { Told } from "../../findings/opened";
import { type Gap, words } from "../../findings/seen";
import { together } from "../../findings/words";
import { type HostPod, MOST_NODES } from "../read/owners";
import type { Container, PodTrouble } from "../read/pod";
import { KINDS } from "../read/reader";

/** What could not be read, as a sentence. */
export function lackText(gaps: readonly Gap[]): string {
  const kinds: Readonly<Record<string, string>> = KINDS;
  const kindsOf = (some: readonly Gap[]) => together([...new Set(some.map(({ part }) => `${kinds[part]}s`))]);
  const isOf = (kind: Gap["why"]["kind"]) => gaps.filter(({ why }) => why.kind === kind);
  const lists = isOf("list");
  const objects = gaps.filter(({ why }) => !["list", "cut", "beyond"].includes(why.kind));
  return [
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

/** What is the same on all nodes with a trouble: the container, and the API's word for what it does. */
export interface Alike {
  readonly container?: string;
  readonly word?: string;
}

/** Kubelet's message (pkg/kubelet, GenerateError), up to what differs from node to node. */
const FAILED_MOUNT = /^[^"]*(volume "[^"]*" : [^:]*)/;

/** What a pod's trouble is: as a sentence about its driver, and what is alike on all nodes with it. */
export function describe(trouble: PodTrouble): { readonly reason: string; readonly why: Alike } {
  switch (trouble.kind) {
    case "unscheduled":
      return { reason: `the scheduler finds no node for its pod: ${trouble.message}`, why: {} };
    case "blocked": {
      const { who, word, message, runsSince, mountFailure, container } = trouble;
      const said = [word, message].filter(Boolean).join(": ") || "kubelet does not report its state";
      const text =
        runsSince === undefined
          ? `${who} does not start: ${said}`
          : `${who} has run since ${runsSince}, and the others wait for it`;
      const [, failed = word] = FAILED_MOUNT.exec(mountFailure ?? "") ?? [];
      const reason = text + (mountFailure === undefined ? "" : `: ${mountFailure}`);
      return { reason, why: { container, word: failed } };
    }
    case "restarting": {
      const { message, name, exitCode, endReason } = trouble.container;
      const reason = endingOf(trouble.container) + (message && `: ${message}`);
      return { reason, why: { container: name, word: `${exitCode} ${endReason}` } };
    }
    case "failed": {
      const said = [trouble.word, trouble.message].filter(Boolean).join(": ") || "without a reason";
      const reason = `its pod failed, and none has taken its place: ${said}`;
      return { reason, why: { word: trouble.word } };
    }
    case "terminating": {
      const reason = `its pod was deleted, should have ended by ${trouble.since} and is still there: until it ends, the node gets no other`;
      return { reason, why: {} };
    }
  }
}

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

export function endingOf({ who, restarts, exitCode, endReason }: Container): string {
  const how = [endReason === "Error" ? "" : endReason, exitCode === undefined ? "" : `exit code ${exitCode}`];
  const ended = how.some(Boolean) ? ` (${how.filter(Boolean).join(", ")})` : "";
  const often = restarts === 1 ? "once" : `${restarts} times`;
  return `${who} has ${restarts === 0 ? "ended" : `restarted ${often}`}${ended}`;
}
