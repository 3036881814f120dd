import { list, type Tree, text, tree } from "../../../kube-api/objects";
import type { FoundObject } from "../../findings/finding";
import { accountName } from "./access";
import { driverNameIn } from "./driver-name";
import { driverSocketsOf } from "./driver-socket";
import { nodeRulesOf } from "./node-rules";
import { placeText } from "./objects";
import { portsOf } from "./ports";
import { isForWindows } from "./windows";

/** What the containers of a pod share with each other and with other pods. */
export type PodFacts = ReturnType<typeof readPod>;

/** The pod of an object, or of its template. */
export function podIn(object: Tree): Tree {
  const spec = tree(object.spec);
  return object.kind === "Pod" ? spec : tree(tree(spec.template).spec);
}

/** The command of a hook, in which kubelet fills in no variables. */
export const hookOf = ({ lifecycle }: Tree, name: "preStop" | "postStart") =>
  list(tree(tree(tree(lifecycle)[name]).exec).command).map(text);

/** Throws INVALID_OPTION for variables that get too long. */
export function readPod(owner: FoundObject, object: Tree, registrars: readonly Tree[] = []) {
  const pod = podIn(object);
  const { automountServiceAccountToken: mounts } = pod;
  const init = list(pod.initContainers).map(tree);
  // Others have ended when the containers start.
  const sidecars = init.filter(({ restartPolicy }) => restartPolicy === "Always");
  const running = [...list(pod.containers).map(tree), ...sidecars];
  const drivers = running.filter((container) => !registrars.includes(container));
  return {
    object: owner,
    /** `daemonset.yaml: DaemonSet kube-system/csi-x-node`. */
    owner: placeText(owner),
    /** The same for an object that is in two files. */
    identity: placeText({ ...owner, file: null }),
    isForWindows: running.some((container) => isForWindows(pod, container)),
    nodes: nodeRulesOf(pod),
    ports: portsOf(running, pod.hostNetwork === true),
    /** The containers beside the registrars, and the number of these. */
    drivers,
    registrars: registrars.length,
    /** What its driver is called, as far as a flag or a variable tells; none if there are several. */
    driverNames: registrars.length > 1 ? [] : driverNameIn(drivers),
    driverSockets: driverSocketsOf(drivers, pod),
    /** Its ServiceAccount, as `NAMESPACE/NAME`. */
    account: accountName(tree(object.metadata).namespace, pod.serviceAccountName ?? pod.serviceAccount),
    /** Undefined: the ServiceAccount decides. */
    isTokenMounted: mounts === undefined ? undefined : mounts !== false,
  };
}
