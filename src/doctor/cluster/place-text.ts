import type { Place } from "./places";
import type { ClusterTarget } from "./read-cluster";

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
