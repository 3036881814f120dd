import { itemsOf } from "../../findings/opened";
import type { Container } from "./ending";
import type { PodTrouble } from "./pod";

// What is wrong with a pod, in words: as far as it was read.

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
    case "unscheduled": {
      const reason = trouble.message
        ? `the scheduler finds no node for its pod: ${trouble.message}`
        : "its pod has no node, and the scheduler does not report why";
      return { reason, why: {} };
    }
    case "blocked": {
      const { who, word, message, runsSince, mountFailure, container } = trouble;
      const said = [word, message].filter(Boolean).join(": ") || "kubelet does not report its state";
      const text =
        runsSince === undefined
          ? `${who} does not start: ${said}`
          : `${who} has run since ${runsSince}, and the others wait for it`;
      const [failure = ""] = itemsOf(mountFailure);
      const [, failed = word] = FAILED_MOUNT.exec(failure) ?? [];
      const reason = text + (failure && `: ${failure}`);
      return { reason, why: { container, word: failed } };
    }
    case "restarting": {
      const [{ exitCode, endReason, message } = NO_END] = itemsOf(trouble.container.end.map((end) => end));
      const reason = endingOf(trouble.container) + (message && `: ${message}`);
      return { reason, why: { container: trouble.container.name, word: `${exitCode} ${endReason}` } };
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

const NO_END = { exitCode: undefined, endReason: "", message: "" };

export function endingOf({ who, restarts, end }: Container): string {
  const [{ exitCode, endReason } = NO_END] = itemsOf(end.map((one) => one));
  const how = [endReason === "Error" ? "" : endReason, exitCode === undefined ? "" : `exit code ${exitCode}`];
  const ended = how.some(Boolean) ? ` (${how.filter(Boolean).join(", ")})` : "";
  const often = restarts === 1 ? "once" : `${restarts} times`;
  return `${who} has ${restarts === 0 ? "ended" : `restarted ${often}`}${ended}`;
}
