import type { Place } from "./places";
import type { ClusterTarget } from "./read-cluster";

/** The reason without what differs from node to node and from time to time: two places with one key have one cause. */
export function reasonKey({ state, node, pod }: Place): string {
  const { restarts } = state;
  const text = restarts
    ? `${restarts.container} ${restarts.message || `${restarts.reason} ${restarts.exitCode}`}`
    : (state.reason ?? "");
  return [pod?.name, pod?.name.split("/")[1], node]
    .reduce<string>((rest, name) => (name ? rest.replaceAll(name, "~") : rest), text)
    .replace(/\b[0-9a-f]{8,}\b|\d+/gi, "#");
}

/** The beginning of a kubectl command on a pod. */
export function kubectlFor({ context }: ClusterTarget, pod: Place["pod"], verb: string): string {
  const [namespace = "", name = ""] = pod?.name.split("/") ?? [];
  const chosen = context === undefined ? "" : ` --context=${context}`;
  return `kubectl${chosen} -n ${namespace} ${verb} ${name}`;
}

/** `1 node`, `5,000 nodes`. */
export function counted(count: number, one: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : `${one}s`}`;
}
