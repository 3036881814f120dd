import { list, text, tree } from "../../../../kube-api/objects";
import { registrarsIn } from "../../files/read/registrars";
import { grouped } from "../../findings/finding";
import type { SeenList } from "../../findings/seen";
import { hasEnded, ownersOf } from "./fields";
import { each, type Identity, type Reader } from "./reader";
import type { RegistrarSet } from "./set";

/** A driver that a node needs, and that no DaemonSet is known to register. */
export interface Unprovided {
  readonly driver: string;
  readonly node: string;
}

/** Of so many drivers. */
const MOST = 5;

export type HostPod = NonNullable<ReturnType<typeof readHostPod>>;

/**
 * The pods that have the socket's directory of such a driver, on one of its nodes: static ones, those of other controllers.
 * Undefined for a driver that was not looked for.
 */
export async function readOwners(reader: Reader, unprovided: readonly Unprovided[]) {
  const drivers = [...grouped(unprovided, ({ driver }) => driver).values()].slice(0, MOST);
  const nodes = [...grouped(drivers, ([{ node }]) => node)];
  const lists = await Promise.all(nodes.map(([node]) => readHostPods(reader, node)));
  // Only a node plugin has its socket on the host, in a directory of its driver's name.
  const isOf = (driver: string) => (pod: HostPod) =>
    pod.hostPaths.some((path) => path.split("/").includes(driver));
  const ownersOf = new Map(
    nodes.flatMap(([, here], at) => here.map(([{ driver }]) => [driver, lists[at]?.filter(isOf(driver))])),
  );
  return (driver: string): SeenList<HostPod> | undefined => ownersOf.get(driver);
}

const readHostPods = ({ read }: Reader, node: string) =>
  read("pods", each(readHostPod), { fieldSelector: `spec.nodeName=${node}` });

/** Undefined for a pod that has ended, or has no directory of the host. */
function readHostPod(object: unknown, { name }: Identity) {
  const { metadata, spec, status } = tree(object);
  const volumes = list(tree(spec).volumes).map((volume) => tree(tree(volume).hostPath));
  const hostPaths = volumes.map(({ path }) => text(path)).filter((path) => path !== "");
  if (hasEnded(status) || hostPaths.length === 0) return undefined;
  const [registrar] = registrarsIn({ object: -1, name }, { ...tree(object), kind: "Pod" });
  return { name, hostPaths, owners: ownersOf(tree(metadata)), registrar: registrar?.container };
}

/** The pods on a node that may register drivers, except those of the DaemonSets that are known for it. */
export async function readRivals(reader: Reader, node: string, sets: SeenList<RegistrarSet>) {
  const known = new Set(sets.each(({ uid }) => uid));
  const pods = await readHostPods(reader, node);
  // A driver may register itself, without such a container.
  const isRival = ({ registrar, hostPaths }: HostPod) =>
    registrar !== undefined || hostPaths.some((path) => MAY_REGISTER.test(path));
  return pods.filter((pod) => isRival(pod) && !pod.owners.some(({ uid }) => known.has(uid)));
}

/** Kubelet's root directory, or the one for registration sockets in it. */
const MAY_REGISTER = /\/(?:kubelet|plugins_registry)\/*$/;
