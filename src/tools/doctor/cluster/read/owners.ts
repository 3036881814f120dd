import { list, text, tree } from "../../../../kube-api/objects";
import type { OurImage } from "../../../recognise/program";
import { registrarsIn } from "../../files/read/registrars";
import { grouped, sortedBy } from "../../findings/grouped";
import { itemsOf, keyIn, type Name, open, type Told, tell, trueOrNull } from "../../findings/opened";
import { beyond, inOrder, listFrom, type SeenList, truth } from "../../findings/seen";
import { hasEnded, inlineDriversOf, ownersOf, phaseOf } from "./fields";
import { type ClusterGap, each, type Identity, type Reader } from "./reader";
import type { RegistrarSet } from "./set";

/** A driver that a node needs, or that its CSINode lists, and that no DaemonSet is known to register. */
export interface Unowned {
  readonly driver: Name;
  readonly node: string | undefined;
}

/** The pods of so many nodes are read; what serves a driver on the others is unknown. */
export const MOST_NODES = 5;

export type HostPod = NonNullable<ReturnType<typeof readHostPod>>;
/** The pods of a node that have the directory of a driver's socket; others there that may register it; and those with a volume of it. */
type Owners = Readonly<Record<"owners" | "rivals" | "users", SeenList<HostPod>>>;
export type OwnersOf = Awaited<ReturnType<typeof readOwners>>["ownersOf"];

/**
 * What may serve such a driver on its node: static pods, those of other controllers; and whether all
 * DaemonSets are listed that a pod there belongs to: else they lack some.
 */
export async function readOwners(
  reader: Reader,
  unowned: SeenList<Told<Unowned>>,
  sets: SeenList<RegistrarSet>,
  setUids: SeenList<string>,
  images: OurImage,
) {
  const drivers = [...grouped(itemsOf(unowned).map(tell<Unowned>), ({ driver }) => keyIn(driver)).values()];
  // A node of each driver, then another one of each.
  const inTurn = sortedBy(
    drivers.flatMap((own) => own.flatMap(({ node }, turn) => (node === undefined ? [] : { node, turn }))),
    ({ turn }) => turn,
  );
  const nodes = [...new Set(inTurn.map(({ node }) => node))];
  const looked = nodes.slice(0, MOST_NODES);
  const lists = await Promise.all(looked.map((node) => readHostPods(reader, node, images)));
  const podsOn = new Map(looked.map((node, at) => [node, lists[at]]));
  const why = { kind: "cut", read: looked.length, there: nodes.length } as const;
  const unread = listFrom<HostPod>({ kind: "unread", gap: { part: "pods", subject: "", why } });
  const notLooked = { owners: unread, rivals: unread, users: unread };
  const ownersOf = ({ driver, node = "" }: Unowned): Owners => {
    const pods = podsOn.get(node);
    if (pods === undefined) return notLooked;
    const { told, gaps } = open(driver);
    const isAmong = (names: readonly string[]) => truth(gaps[0] ?? names.includes(told));
    // Only a node plugin has its socket on the host, in a directory of its driver's name.
    const owners = pods.filter(({ hostPaths }) => isAmong(hostPaths.flatMap((path) => path.split("/"))));
    // Others may have one of its PersistentVolumes.
    const users = pods.filter(({ inlineDrivers }) => isAmong(inlineDrivers)).with(BY_CLAIM);
    return { owners: inOrder(owners, ({ name }) => name), rivals: rivalsIn(pods, sets), users };
  };
  const unlisted = unlistedIn(setUids, lists.flatMap(itemsOf));
  return { ownersOf, areListed: unlisted.length === 0, sets: reader.lacking(sets, ...unlisted) };
}

/** The gaps of a list that lacks DaemonSets of which these pods are. With a deleted one its pods are deleted, too. */
function unlistedIn(uids: SeenList<string>, pods: readonly HostPod[]): readonly ClusterGap[] {
  const staying = sortedBy(pods, ({ name }) => name).filter(({ isLeaving }) => !isLeaving);
  const all = staying.flatMap(({ name: pod, owners }) => owners.map((owner) => ({ pod, ...owner })));
  const sets = all.filter(({ isController, kind }) => isController && kind === "DaemonSet");
  const isUnlisted = (uid: string) => trueOrNull(uids.contains((one) => one === uid)) === false;
  return [...grouped(sets, ({ uid }) => uid).values()].flatMap(([{ uid, name, pod }]) => {
    if (!isUnlisted(uid)) return [];
    const subject = `${pod.split("/")[0]}/${name}`;
    const message = `their list lacks DaemonSet ${subject}, to which pod ${pod} belongs`;
    return { part: "daemonsets", subject, why: { kind: "list", failure: "incomplete", message } };
  });
}

/** Doctor reads no PersistentVolumeClaim. */
const BY_CLAIM = listFrom<never>({ kind: "unread", gap: beyond("pods") });

const readHostPods = ({ read }: Reader, node: string, images: OurImage) =>
  read(
    "pods",
    each((object, identity) => readHostPod(object, identity, images)),
    { fieldSelector: `spec.nodeName=${node}` },
  );

/** Undefined for a pod that has ended, or has neither a directory of the host nor an inline volume. */
function readHostPod(object: unknown, { name }: Identity, images: OurImage) {
  const { metadata, spec, status } = tree(object);
  const volumes = list(tree(spec).volumes).map((volume) => tree(tree(volume).hostPath));
  const hostPaths = volumes.map(({ path }) => text(path)).filter((path) => path !== "");
  const inlineDrivers = inlineDriversOf(spec);
  if (hasEnded(status) || hostPaths.length + inlineDrivers.length === 0) return undefined;
  const [registrar] = registrarsIn(name, name, { ...tree(object), kind: "Pod" }, images);
  return {
    ...{ name, hostPaths, inlineDrivers },
    owners: ownersOf(tree(metadata)),
    isRunning: phaseOf(status) === "Running",
    /** The container that is known to be one; another one may be. */
    registrar: listFrom<string>(
      registrar ? [tell<string>(registrar.about.container)] : { kind: "unread", gap: beyond("pods", name) },
    ),
    isLeaving: tree(metadata).deletionTimestamp !== undefined,
  };
}

export const readRivals = async (
  reader: Reader,
  node: string,
  { sets, images }: { readonly sets: SeenList<RegistrarSet>; readonly images: OurImage },
) => rivalsIn(await readHostPods(reader, node, images), sets);

/** The pods that may register drivers, except those of the DaemonSets that are known for it. */
function rivalsIn(pods: SeenList<HostPod>, sets: SeenList<RegistrarSet>): SeenList<HostPod> {
  const isKnown = ({ owners }: HostPod) => sets.contains((set) => owners.some(({ uid }) => uid === set.uid));
  // A driver may register itself, without such a container.
  const isRival = ({ registrar, hostPaths }: HostPod) =>
    itemsOf(registrar).length > 0 || hostPaths.some((path) => MAY_REGISTER.test(path));
  return pods.filter((pod) => isRival(pod) && isKnown(pod).not());
}

/** Kubelet's root directory, or the one for registration sockets in it. */
const MAY_REGISTER = /\/(?:kubelet|plugins_registry)\/*$/;
