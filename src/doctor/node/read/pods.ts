import { dirname, join } from "node:path";
import type { ListPodsResponse } from "../../../grpc/protos";
import { grouped } from "../../findings/grouped";
import { askPods } from "./calls";
import type { Answer, Facts, UnstartedPod } from "./facts";
import { lookAtSocket } from "./socket";

/**
 * Asks kubelet's Pods API, which has its socket in kubelet's root, beside the registration directory (1.37, `PodsAPI`).
 * Undefined where none is seen: an older kubelet, or a container that does not have the folder.
 */
export async function lookAtPods(
  pluginRegistrationPath: string,
  timeoutMs: number,
): Promise<Answer<readonly UnstartedPod[]> | undefined> {
  const socket = await lookAtSocket(join(dirname(pluginRegistrationPath), "pods-api", "pods-api.sock"));
  if (socket.kind === "not-accepting")
    return { kind: "failed", code: "Unavailable", message: socket.explanation };
  if (socket.kind !== "accepting") return undefined;
  const answer = await askPods(socket.path, timeoutMs);
  return answer.kind === "answered"
    ? { kind: "answered", value: answer.value.pods.flatMap(unstarted) }
    : answer;
}

/**
 * Volumes are mounted before the pod's sandbox is made, which kubelet tells by the condition PodReadyToStartContainers. Only
 * an inline volume names its driver: a claim's is in its PersistentVolume, which is on the API server.
 */
function unstarted({ metadata, spec, status }: ListPodsResponse["pods"][number]): readonly UnstartedPod[] {
  const hasSandbox = status?.conditions.some(
    (one) => one.type === "PodReadyToStartContainers" && one.status === "True",
  );
  if (status?.phase !== "Pending" || hasSandbox || metadata?.deletionTimestamp) return [];
  const drivers = spec?.volumes.flatMap(({ volumeSource }) => volumeSource?.csi?.driver || []) ?? [];
  const pod = `${metadata?.namespace}/${metadata?.name}`;
  return drivers.length === 0 ? [] : [{ pod, drivers: [...new Set(drivers)] }];
}

/** The pods that have not started, by the driver of their inline volumes; undefined if kubelet does not tell. */
export function podsByDriver({ pods }: Facts): ReadonlyMap<string, readonly string[]> | undefined {
  if (pods?.kind !== "answered") return undefined;
  const pairs = pods.value.flatMap(({ pod, drivers }) => drivers.map((driver) => ({ driver, pod })));
  return new Map(
    [...grouped(pairs, ({ driver }) => driver)].map(([driver, all]) => [driver, all.map(({ pod }) => pod)]),
  );
}
