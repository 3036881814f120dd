import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import type { FoundObject } from "../../findings/finding";
import { rootIn } from "../../rules/registration-directory";
import { accountName } from "./access";
import { driverNameIn } from "./driver-name";
import { type DriverSocket, driverSocketsOf } from "./driver-socket";
import { type NodeRules, nodeRulesOf } from "./node-rules";
import { placeText } from "./objects";
import { type PortUse, portsOf } from "./ports";
import { isForWindows } from "./windows";

/** What the containers of a pod share with each other and with other pods. */
export interface PodFacts {
  /** `daemonset.yaml: DaemonSet kube-system/csi-x-node`. */
  readonly owner: string;
  readonly object: FoundObject;
  /** The same for an object that is in two files. */
  readonly identity: string;
  readonly isForWindows: boolean;
  readonly nodes: NodeRules;
  readonly ports: readonly PortUse[];
  /** The folders of kubelet that it mounts, by their paths on the host. */
  readonly kubeletPaths: readonly string[];
  /** What its driver is called, as far as a flag or a variable tells; none if there are several. */
  readonly driverNames: readonly [] | readonly [string];
  /** Its ServiceAccount, as `NAMESPACE/NAME`. */
  readonly account: string;
  /** Undefined: the ServiceAccount decides. */
  readonly isTokenMounted: boolean | undefined;
  /** Containers beside the registrars whose preStop hooks remove registration sockets. */
  readonly removers: readonly { readonly container: string; readonly command: string }[];
  /** The number of its registrars. */
  readonly registrars: number;
  /** Those that its other containers tell. */
  readonly driverSockets: readonly DriverSocket[];
}

/** Whether one of a shell's commands removes a registration socket. Each text is searched once, however long it is. */
function removesSocket(command: string): boolean {
  return command.split(/[;&|]/).some((one) => {
    const at = one.search(/\brm\s/);
    return at >= 0 && /-reg\.sock\b/.test(one.slice(at));
  });
}

/** The command of a hook, in which kubelet fills in no variables. */
export function hookOf({ lifecycle }: Tree, name: "preStop" | "postStart"): readonly string[] {
  return list(tree(tree(tree(lifecycle)[name]).exec).command).map(text);
}

/** The pod of an object, or of its template. */
export function podIn(object: Tree): Tree {
  const spec = tree(object.spec);
  return object.kind === "Pod" ? spec : tree(tree(spec.template).spec);
}

/** Throws INVALID_OPTION for variables that get too long. */
export function readPod(owner: FoundObject, object: Tree, registrars: readonly Tree[] = []): PodFacts {
  const pod = podIn(object);
  const init = list(pod.initContainers).map(tree);
  // Others have ended when the containers start.
  const sidecars = init.filter(({ restartPolicy }) => restartPolicy === "Always");
  const kubeletPaths = list(pod.volumes)
    .map((volume) => text(tree(tree(volume).hostPath).path).replace(/(?<=[^/])\/+$/, ""))
    .filter((path) => rootIn(path) !== undefined);
  const running = [...list(pod.containers).map(tree), ...sidecars];
  const drivers = running.filter((container) => !registrars.includes(container));
  return {
    owner: placeText(owner),
    object: owner,
    identity: placeText({ ...owner, file: null }),
    isForWindows: running.some((container) => isForWindows(pod, container)),
    nodes: nodeRulesOf(pod),
    ports: portsOf(running, pod.hostNetwork === true),
    kubeletPaths,
    driverNames: registrars.length > 1 ? [] : driverNameIn(drivers),
    account: accountName(tree(object.metadata).namespace, pod.serviceAccountName ?? pod.serviceAccount),
    isTokenMounted:
      pod.automountServiceAccountToken === undefined ? undefined : pod.automountServiceAccountToken !== false,
    removers: drivers.flatMap((driver) => {
      const command = hookOf(driver, "preStop").join(" ");
      return removesSocket(command) ? [{ container: text(driver.name), command: boundText(command) }] : [];
    }),
    registrars: registrars.length,
    driverSockets: driverSocketsOf(drivers, pod),
  };
}
