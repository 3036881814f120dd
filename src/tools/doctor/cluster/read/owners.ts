import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../../../host-path/kubelet-roots";
import { bool, list, type Tree, text, tree } from "../../../../kube-api/objects";
import { isWithin, plainPath } from "../../../../unix/mounts";
import type { OurImage } from "../../../recognise/program";
import { containersIn } from "../../files/read/pod";
import { registrarsIn } from "../../files/read/registrars";
import { grouped, sortedBy } from "../../findings/grouped";
import { itemsOf, keyIn, type Name, open, type Told, tell, trueOrNull } from "../../findings/opened";
import {
  beyond,
  type Gap,
  inOrder,
  listFrom,
  type SeenList,
  truth,
  unsoughtIf,
  withheld,
} from "../../findings/seen";
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
/** The pods of a node that have the directory of a driver's socket; all there that may register it; and those with a volume of it. */
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
    const mayServe = aboveIn(pods, sets);
    const { told, gaps } = open(driver);
    const isAmong = (names: readonly string[]) => truth(gaps[0] ?? names.includes(told));
    // Only a node plugin has its socket on the host, in a directory of its driver's name.
    const owners = pods
      .filter(({ writable }) => isAmong(writable.flatMap((path) => path.split("/"))))
      .with(mayServe)
      .with(UNSEEN);
    // Others may have one of its PersistentVolumes.
    const users = pods.filter(({ inlineDrivers }) => isAmong(inlineDrivers)).with(BY_CLAIM);
    const rivals = rivalsIn(pods, sets).with(mayServe);
    return { owners: inOrder(owners, ({ name }) => name), rivals, users };
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

/** What is needed by a PersistentVolumeClaim is not known: doctor reads none. */
export const BY_CLAIM = unsoughtIf(true, "pods", "");

/** A service of the host may serve and register a driver, and a pod may do it in a directory of another name. */
const UNSEEN = unsoughtIf(true, "pods", "");

const readHostPods = ({ read }: Reader, node: string, images: OurImage) =>
  read(
    "pods",
    each((object, identity) => readHostPod(object, identity, images)),
    { fieldSelector: `spec.nodeName=${node}` },
  );

/** The directories of the host in which a container can make a socket. What a `subPathExpr` adds is not known. */
function writableIn(spec: Tree): readonly string[] {
  const volumes = list(spec.volumes).map(tree);
  const hostPaths = new Map(volumes.map(({ name, hostPath }) => [text(name), text(tree(hostPath).path)]));
  const containers = [...containersIn(spec), ...list(spec.ephemeralContainers).map(tree)];
  const mounts = containers.flatMap(({ volumeMounts }) => list(volumeMounts).map(tree));
  return mounts.flatMap(({ name, readOnly, subPath }) => {
    const hostPath = hostPaths.get(text(name)) ?? "";
    return hostPath === "" || bool(readOnly) ? [] : plainPath(`${hostPath}/${text(subPath)}`);
  });
}

/** Undefined for a pod that has ended, or can write no directory of the host, and has no inline volume. */
function readHostPod(object: unknown, { name }: Identity, images: OurImage) {
  const { metadata, spec, status } = tree(object);
  const [writable, inlineDrivers] = [writableIn(tree(spec)), inlineDriversOf(spec)];
  if (hasEnded(status) || writable.length + inlineDrivers.length === 0) return undefined;
  const [registrar] = registrarsIn(name, name, { ...tree(object), kind: "Pod" }, images);
  return {
    ...{ name, writable, inlineDrivers },
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
  const isKnown = isOfSets(sets);
  // A driver may register itself, without such a container.
  const isRival = ({ registrar, writable }: HostPod) =>
    registrar.contains().or(writable.some((path) => MAY_REGISTER.test(path) || ROOTS.includes(path)));
  return pods.filter((pod) => isRival(pod).and(isKnown(pod).not())).with(UNSEEN);
}

/** What a list of them lacks: pods that have a directory above a kubelet's root may have made what is below it. */
function aboveIn(pods: SeenList<HostPod>, sets: SeenList<RegistrarSet>): SeenList<never> {
  const inPaths = itemsOf(sets).flatMap(({ registrars }) =>
    registrars.map(({ written }) => tell(written).kubeletRegistrationPath),
  );
  const registries = itemsOf(pods).flatMap(({ writable }) => writable);
  const [seen, isKnown] = [[...inPaths, ...registries].flatMap(rootIn), isOfSets(sets)];
  const roots = [...ROOTS, ...seen];
  const all = itemsOf(pods).filter((pod) => trueOrNull(isKnown(pod)) !== true);
  const gaps = all.flatMap(({ name, writable }): readonly Gap[] => {
    const path = writable.find((one) => roots.some((root) => isWithin(root, one)));
    return path === undefined ? [] : [{ part: "pods", subject: name, why: { kind: "above", path } }];
  });
  const [gap, ...more] = sortedBy(gaps, ({ subject }) => subject);
  return gap === undefined ? listFrom<never>([]) : withheld([gap, ...more]);
}

const isOfSets =
  (sets: SeenList<RegistrarSet>) =>
  ({ owners }: HostPod) =>
    sets.contains((set) => owners.some(({ uid }) => uid === set.uid));

const ROOTS: readonly string[] = [DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS)];
/** Kubelet's root directory, or the one for registration sockets in it; kubelet looks below that, too. */
const MAY_REGISTER = /\/kubelet$|\/plugins_registry(?:\/|$)/;
const rootIn = (path: string): readonly string[] =>
  /^(.+)\/plugins(?:_registry)?(?:\/|$)/.exec(path)?.slice(1) ?? [];
