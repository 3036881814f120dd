import { list, text, tree } from "../../../../kube-api/objects";
import { registrarsIn } from "../../files/read/registrars";
import { grouped } from "../../findings/grouped";
import { itemsOf } from "../../findings/opened";
import type { SeenList } from "../../findings/seen";
import { hasEnded, ownersOf } from "./fields";
import { each, type Identity, type Reader } from "./reader";
import type { RegistrarSet } from "./set";

/** A driver that a node needs, or that its CSINode lists, and that no DaemonSet is known to register. */
export interface Unowned {
  readonly driver: string;
  readonly node: string;
  readonly kind: string;
}

/** The pods of so many nodes are read. */
export const MOST_NODES = 5;

export type HostPod = NonNullable<ReturnType<typeof readHostPod>>;

/**
 * The pods that have the socket's directory of such a driver, on one of its nodes: static ones, those of other controllers.
 * And others there that may register it. Undefined for a driver that was not looked for.
 */
export async function readOwners(reader: Reader, unowned: SeenList<Unowned>, sets: SeenList<RegistrarSet>) {
  const drivers = [...grouped(itemsOf(unowned), keyOf).values()];
  const nodes = [...grouped(drivers, ([{ node }]) => node)].slice(0, MOST_NODES);
  const lists = await Promise.all(nodes.map(([node]) => readHostPods(reader, node)));
  // Only a node plugin has its socket on the host, in a directory of its driver's name.
  const isOf = (driver: string) => (pod: HostPod) =>
    pod.hostPaths.some((path) => path.split("/").includes(driver));
  const found = new Map(
    nodes.flatMap(([node, here], at) =>
      here.map(([one]) => {
        const pods = lists[at];
        const owners = pods?.filter(isOf(one.driver));
        const rivals = pods === undefined ? undefined : rivalsIn(pods, sets);
        return [keyOf(one), { node, owners, rivals }];
      }),
    ),
  );
  return (one: Omit<Unowned, "node">) => found.get(keyOf(one));
}

const keyOf = ({ kind, driver }: Omit<Unowned, "node">) => `${kind} ${driver}`;

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

export const readRivals = async (reader: Reader, node: string, sets: SeenList<RegistrarSet>) =>
  rivalsIn(await readHostPods(reader, node), sets);

/** The pods that may register drivers, except those of the DaemonSets that are known for it. */
function rivalsIn(pods: SeenList<HostPod>, sets: SeenList<RegistrarSet>): SeenList<HostPod> {
  const isKnown = ({ owners }: HostPod) => sets.contains((set) => owners.some(({ uid }) => uid === set.uid));
  // A driver may register itself, without such a container.
  const isRival = ({ registrar, hostPaths }: HostPod) =>
    registrar !== undefined || hostPaths.some((path) => MAY_REGISTER.test(path));
  return pods.filter((pod) => isRival(pod) && isKnown(pod).not());
}

/** Kubelet's root directory, or the one for registration sockets in it. */
const MAY_REGISTER = /\/(?:kubelet|plugins_registry)\/*$/;
