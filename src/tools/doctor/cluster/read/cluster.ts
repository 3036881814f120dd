import { invalidOption, refuse } from "../../../../base/errors";
import { tree } from "../../../../kube-api/objects";
import type { OurImage } from "../../../recognise/program";
import { readLimitRange } from "../../files/read/pod";
import { sortedBy } from "../../findings/grouped";
import { itemsOf, orNull, type Told, tell, trueOrNull } from "../../findings/opened";
import { beyond, inOrder, listFrom, type SeenList, unsoughtIf } from "../../findings/seen";
import { together } from "../../findings/words";
import type { ListApi } from "./list-api";
import {
  countAttachments,
  readCsiNode,
  readNeedEvent,
  readNode,
  readPendingPod,
  startMountEvents,
  waitingIn,
} from "./needs";
import { BY_CLAIM, readOwners, readRivals, type Unowned } from "./owners";
import {
  createPodCount,
  isPodOf,
  knownOfPod,
  type PodCount,
  type RegistrarPod,
  readRegistrarPod,
  withMountFailure,
} from "./pod";
import { createReader, each, GROUPS, LOG_IN, type Reader } from "./reader";
import { createRunningReader, currentIn, type RegistrarSet, readRegistrarSet } from "./set";

/** Restricts the report to one node or driver; undefined: all. */
export interface ClusterTarget {
  readonly context: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly node: string | undefined;
  readonly driver: string | undefined;
}

/** Of each object it has only the facts that the checks judge, and `gaps` tells what could not be read. */
export type ClusterReading = Awaited<ReturnType<typeof readCluster>>;

/** kubectl without any configuration tries this address. */
const NO_CLUSTER = /(?:127\.0\.0\.1|\[::1\]|localhost):8080/;
const SET_KUBECONFIG =
  "; kubectl seems to have no cluster: set KUBECONFIG, or give --kubeconfig or --context";

/** By the kind of the failure. */
const ADVICE: Readonly<Partial<Record<string, string>>> = {
  unauthorized: `; ${LOG_IN}`,
  forbidden: `; ask a cluster administrator for the right to list ${together(Object.keys(GROUPS))}`,
  "not-found": "; is something else at the API server's address?",
};

/**
 * Reads a cluster's lists page by page and keeps the facts that the checks judge. Rejects with INVALID_OPTION if no list can be
 * read, or the target's node does not exist.
 */
export async function readCluster(api: Pick<ListApi, "list">, target: ClusterTarget, ours: OurImage) {
  const reader = createReader(api);
  const [{ setUids, ...registrars }, others] = await Promise.all([
    readSets(reader, target, ours),
    readOthers(reader, target),
  ]);
  const [failed] = reader.gaps().flatMap(({ why }) => (why.kind === "list" ? why : []));
  if (!reader.hasRead() && failed !== undefined) {
    const advice = NO_CLUSTER.test(failed.message) ? SET_KUBECONFIG : (ADVICE[failed.failure] ?? "");
    throw invalidOption(`cannot read the cluster: ${failed.message}${advice}`);
  }
  const [looked, listed, csiDrivers, attachments, pending, mounts, attaches] = others;
  if (target.node !== undefined && trueOrNull(looked.contains()) === false)
    refuse(`there is no node ${target.node}`);
  const isEmpty = trueOrNull(listed.contains()) === false;
  const shown = isEmpty ? await withoutHidden(reader, listed, looked, target) : listed;
  const elsewhere = notAsked(target);
  const csiNodes = shown.with(elsewhere);
  const [nodes, attached] = [looked.with(elsewhere), attachments.with(elsewhere)];
  const events = mounts
    .with(attaches)
    .flatMap((event) => ("driver" in event && isMeant(target, event.node) ? event : undefined));
  const bySet = (list: SeenList<RegistrarPod>) => reader.byKnown(list, ({ setUid }) => setUid, "set");
  /** Those of a DaemonSet on a node. */
  const inPlaces = (list: SeenList<RegistrarPod>) => {
    const on = reader.byKnown(list, ({ meantFor = "" }) => meantFor, "node");
    return ({ uid }: RegistrarSet, node: string) => bySet(on(node))(uid);
  };
  const latest = mounts.flatMap((event) => ("at" in event ? event : undefined)).by(({ podUid }) => podUid);
  const pods = registrars.pods
    .map((pod) =>
      withMountFailure(
        pod,
        latest(pod.uid).map(({ message }) => message),
      ),
    )
    .with(elsewhere);
  const leaving = registrars.leaving.with(elsewhere);
  const waiting = waitingIn(pending, events).with(elsewhere).with(BY_CLAIM);
  return {
    ...registrars,
    target,
    nowMs: reader.beganMs(),
    ...{ pods, leaving, waiting },
    podsOf: bySet(pods),
    leavingOf: bySet(leaving),
    podsAt: inPlaces(pods),
    leavingAt: inPlaces(leaving),
    waitingOn: reader.byKnown(waiting, ({ node }) => node, "node"),
    attachedOn: reader.byKnown(attached, ({ node }) => node, "node"),
    ...{ nodes, csiNodes, csiDrivers, attached },
    nodeAt: ofNode(reader.byKnown(nodes, ({ name }) => name, "node", true)),
    csiNodeAt: ofNode(reader.byKnown(csiNodes, ({ node }) => node, "node", true)),
    /** These read more, so they come before `gaps`. */
    readOwners: (unowned: SeenList<Told<Unowned>>) =>
      readOwners(reader, unowned, registrars.sets, setUids, ours),
    readRivals: (node: string) => readRivals(reader, node, registrars),
    gaps: () => sortedBy(reader.gaps(), ({ subject }) => subject),
  };
}

/** Without the name of a node it is not known which one is meant. */
const ofNode =
  <Item>(find: (node: string) => SeenList<Item>) =>
  (node: string): SeenList<Item> =>
    node === "" ? find(node).with(unsoughtIf(true, "nodes", "")) : find(node);

/** What is on nodes that were not asked for: the name of none. */
const notAsked = ({ node }: ClusterTarget): SeenList<never> =>
  node === undefined
    ? listFrom<never>([])
    : listFrom<never>({ kind: "unread", gap: beyond("nodes", "", { node: "(other nodes)" }) });

/**
 * Kubelet makes the CSINode of its Node before that is Ready (pkg/volume/csi, initializeCSINode): where several nodes have none, they
 * are not shown. Of one node that tells nothing, so all are listed.
 */
async function withoutHidden<CsiNode>(
  { read, lacking }: Reader,
  listed: SeenList<CsiNode>,
  nodes: SeenList<ReturnType<typeof readNode>>,
  target: ClusterTarget,
) {
  const isOne = target.node !== undefined;
  const [all, others] = isOne
    ? await Promise.all([read("nodes", each(readNode)), read("csinodes", each(readCsiNode))])
    : [nodes, listed];
  const there = itemsOf(all);
  const isHidden =
    there.length > 1 &&
    there.some(({ ready }) => ready === "True") &&
    trueOrNull(others.contains()) === false;
  const message = `the answer is an empty list, and there are ${there.length} nodes`;
  const why = { kind: "list", failure: "hidden", message } as const;
  return isHidden ? lacking(listed, { part: "csinodes", subject: "csinodes", why }) : listed;
}

const isMeant = ({ node: wanted }: ClusterTarget, node: string | undefined) =>
  wanted === undefined || node === undefined || node === wanted;

/** What is read alike whatever registrars there are. */
async function readOthers({ read }: Reader, target: ClusterTarget) {
  const { node } = target;
  const named = node === undefined ? {} : { fieldSelector: `metadata.name=${node}` };
  const there = node === undefined ? "" : `,spec.nodeName=${node}`;
  const because = (reason: string) => ({ fieldSelector: `reason=${reason}` });
  // A large cluster has 100,000 of them: only their numbers are kept.
  const counting = countAttachments((at) => isMeant(target, at));
  return Promise.all([
    read("nodes", each(readNode), named),
    read("csinodes", each(readCsiNode), named),
    read(
      "csidrivers",
      each((_, { name }) => name),
    ),
    read("volumeattachments", counting),
    read("pods", each(readPendingPod), { fieldSelector: `status.phase=Pending${there}` }),
    // The events that name a missing driver: kubelet's at a mount, the controllers' at an attach.
    read("events", startMountEvents, because("FailedMount")),
    read("events", each(readNeedEvent), because("FailedAttachVolume")),
  ]);
}

/** The sets with a registrar, their pods, and the limits of their namespaces. */
async function readSets(reader: Reader, target: ClusterTarget, images: OurImage) {
  const all = await reader.read(
    "daemonsets",
    each((item, identity) => ({
      uid: identity.uid,
      set: readRegistrarSet(item, identity, images),
    })),
  );
  const sets = all.flatMap(({ set }) => set);
  // The pods on the node, and those that have no node yet.
  const fields = target.node === undefined ? [undefined] : [target.node, ""];
  const readRunning = createRunningReader(images);
  const readPods = (set: RegistrarSet) =>
    fields.map(async (node) => {
      const selected = node === undefined ? {} : { fieldSelector: `spec.nodeName=${node}` };
      const query = { labelSelector: set.selector, ...selected };
      const count = createPodCount(reader.beganMs);
      const parsePod = each(
        (item, identity) => {
          if (!isPodOf(item, set)) return undefined;
          count.add(item, identity);
          return readRegistrarPod(item, identity, set, reader.beganMs(), readRunning);
        },
        (item) => knownOfPod(item, set),
      );
      const pods = await reader.read("pods", parsePod, query, set.namespace);
      return node === undefined ? withLack(reader, pods, set, count) : pods;
    });
  const podLists = await Promise.all(itemsOf(sets.flatMap(readPods)));
  const readLimits = (namespace: string) =>
    reader.read(
      "limitranges",
      each((one) => readLimitRange(tree(one))),
      {},
      namespace,
    );
  const limitLists = await Promise.all(
    [...new Set(itemsOf(sets.map(({ namespace }) => namespace)))].map(readLimits),
  );
  // In an order that does not depend on what was read first.
  const nameOf = ({ name }: { readonly name: string }) => name;
  const meant = joined(podLists, sets).filter(({ meantFor }) => isMeant(target, meantFor));
  const pods = inOrder(meant, nameOf);
  return {
    images,
    sets: inOrder(sets, nameOf),
    /** Also of those without a registrar. */
    setUids: all.map(({ uid }) => uid),
    pods: pods.filter(({ isLeaving }) => !isLeaving),
    leaving: pods.filter(({ isLeaving }) => isLeaving),
    limitRanges: inOrder(joined(limitLists, sets), ({ name }) => tell<string>(name)),
  };
}

/** The list with a gap if the DaemonSet's controller counts more nodes with pods than it has, before it was read and afterwards. */
async function withLack(
  { read, lacking }: Reader,
  pods: SeenList<RegistrarPod>,
  { name, namespace, uid, written }: RegistrarSet,
  { isChanging, nodes }: PodCount,
): Promise<SeenList<RegistrarPod>> {
  const current = tell(written);
  const isLess = (counted: number) => nodes() < counted && !isChanging();
  if (!isLess(current) || orNull(pods, () => true) === null) return pods;
  const query = { fieldSelector: `metadata.name=${name.replace(/.*\//, "")}` };
  const [again] = itemsOf(await read("daemonsets", each(currentIn), query, namespace));
  if (again === undefined || !isLess(again)) return pods;
  const message = `their list has ${nodes()} of the ${current} that the status of DaemonSet ${name} counts`;
  const why = { kind: "list", failure: "incomplete", message } as const;
  return lacking(pods, { part: "pods", subject: name, why, known: { set: uid } });
}

/** The items of the lists that DaemonSets have. What a DaemonSet has that was not read is not read either. */
const joined = <Item>(lists: readonly SeenList<Item>[], sets: SeenList<RegistrarSet>): SeenList<Item> =>
  lists.reduce(
    (all, one) => all.with(one),
    sets.flatMap<Item>(() => undefined),
  );
