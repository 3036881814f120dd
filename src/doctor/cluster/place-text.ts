import { together } from "../rules/duplicates";
import { EVERY_DRIVER } from "./driver-names";
import type { ClusterTarget, Restarts } from "./facts";
import type { Place } from "./places";

/** Why a driver stands as it does on a node, for a sentence; null if it is healthy. */
export function reasonOf({ state, unit, driver }: Place): string | null {
  switch (state.kind) {
    case "registered":
      return null;
    case "starting":
      return "its registrar has only just been started";
    case "unregistered":
      return "its pod runs, and kubelet has not registered it";
    case "node-away":
      return "the node is not ready, or not there any more";
    case "uncovered":
      return `no pod of DaemonSet ${unit?.set.name ?? "?"} is there`;
    case "unprovided":
      return "no DaemonSet has a registrar for it";
    case "contradicted":
      return `CSINode has the node ID ${state.inCsiNode}, and the Node's annotation ${state.inAnnotation ?? "has none"}`;
    case "duplicate":
      return `${together(state.pods).join(" ")} register it`;
    case "unseen":
      return driver === EVERY_DRIVER
        ? "which drivers there are cannot be seen from here"
        : "whether kubelet has registered it cannot be seen from here";
    case "unscheduled":
      return `its pod finds no node: ${state.message}`;
    case "blocked":
      return `container ${state.container} does not start: ${[state.reason, state.message].filter(Boolean).join(": ")}`;
    case "restarting":
      return restartsText(state);
    default:
      return state satisfies never;
  }
}

function restartsText({ container, times, reason, exitCode, message }: Restarts): string {
  const how = [
    reason === "" || reason === "Error" ? undefined : reason,
    exitCode === undefined ? undefined : `exit code ${exitCode}`,
  ].filter(Boolean);
  const ended = how.length === 0 ? "" : ` (${how.join(", ")})`;
  const often = times === 1 ? "has restarted once" : `has restarted ${times} times`;
  return `container ${container} ${often}${ended}${message === "" ? "" : `: ${message}`}`;
}

/**
 * What tells one cause from another: the reason without what differs from node to node and from time to time, such as
 * names of nodes and pods, addresses and numbers.
 */
export function reasonKey(place: Place): string {
  const { state, node, pod } = place;
  const text =
    state.kind === "restarting"
      ? [state.container, state.message || `${state.reason} ${state.exitCode}`].join(" ")
      : (reasonOf(place) ?? "");
  const own = [pod?.name, pod?.name.split("/")[1], node].filter((name) => name !== undefined && name !== "");
  const common = own.reduce((rest: string, name) => rest.replaceAll(name ?? "", "~"), text);
  return common.replace(/\b[0-9a-f]{8,}\b|\d+/gi, "#");
}

/** The beginning of a kubectl line for a pod, as the person who reads it would have to type it. */
export function kubectlFor({ context }: ClusterTarget, podName: string, verb: string): string {
  const [namespace = "", pod = ""] = podName.split("/");
  const chosen = context === undefined ? "" : ` --context=${context}`;
  return `kubectl${chosen} -n ${namespace} ${verb} ${pod}`;
}

/** `1 node`, `5,000 nodes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
