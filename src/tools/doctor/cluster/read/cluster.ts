import { invalidOption } from "../../../../base/errors";
import { tree } from "../../../../kube-api/objects";
import type { OurImage } from "../../../recognise/program";
import { nameOf } from "../../files/read/objects";
import { readLimitRange } from "../../files/read/pod";
import { sortedBy } from "../../findings/finding";
import type { ListApi } from "./list-api";
import {
  countAttachments,
  needsIn,
  readCsiNode,
  readNeedEvent,
  readNodeRow,
  readPendingPod,
  startLatest,
} from "./needs";
import { readRegistrarPod, withMountFailure } from "./pod";
import { createReader, each, type Reader, type Resource } from "./reader";
import { createRunningReader, readRegistrarSet } from "./set";

/** Restricts the report to one node or driver; undefined: all. */
export interface ClusterTarget {
  readonly context: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly node: string | undefined;
  readonly driver: string | undefined;
}

/** Of each object it has only the facts that the checks judge, so that a large cluster fits into little memory. */
export type ClusterReading = Awaited<ReturnType<typeof readCluster>>;

/** kubectl without any configuration tries this address. */
const NO_CLUSTER = /(?:127\.0\.0\.1|\[::1\]|localhost):8080/;
const SET_KUBECONFIG =
  "; kubectl seems to have no cluster: set KUBECONFIG, or give --kubeconfig or --context";

/**
 * Reads a cluster's lists page by page and keeps the facts that the checks judge. Lists that cannot be read are in `unread`.
 * Rejects with INVALID_OPTION if no list can be read, or the target's node does not exist.
 */
export async function readCluster(api: Pick<ListApi, "list">, target: ClusterTarget, ours: OurImage) {
  const reader = createReader(api);
  const [registrars, others] = await Promise.all([
    readSets(reader, target, ours),
    readOthers(reader, target),
  ]);
  const { unread } = reader;
  const [failure] = unread.values();
  if (!reader.hasRead() && failure !== undefined) {
    const advice = NO_CLUSTER.test(failure.message) ? SET_KUBECONFIG : "";
    throw invalidOption(`cannot read the cluster: ${failure.message}${advice}`);
  }
  const [nodes, csiNodes, csiDrivers, attachments, pending, mounts, attaches] = others;
  if (target.node !== undefined && !unread.has("nodes") && nodes.length === 0)
    throw invalidOption(`there is no node ${target.node}`);
  /** Undefined: the list could not be read. */
  const ifRead = <Value>(resource: Resource, value: Value) => (unread.has(resource) ? undefined : value);
  return {
    ...registrars,
    target,
    nowMs: reader.beganMs(),
    pods: registrars.pods.map((pod) => withMountFailure(pod, mounts.byPod.get(pod.uid)?.message)),
    nodes: ifRead("nodes", new Map(nodes.map((node) => [node.name, node]))),
    csiNodes: ifRead("csinodes", new Map(csiNodes.map(({ node, drivers }) => [node, drivers]))),
    /** Node -> UID of the Node that owns its CSINode. */
    csiNodeOwners: new Map(csiNodes.map(({ node, owner }) => [node, owner])),
    csiDrivers: ifRead("csidrivers", new Set(csiDrivers)),
    needs: needsIn(
      [...attachments.values()],
      pending,
      [...mounts.needs, ...attaches].filter(({ node }) => isMeant(target, node)),
      unread.has("pods"),
    ),
    unreadObjects: sortedBy(reader.unreadObjects, ({ place }) => place),
    /** The lists of which objects are missing, because they were not read or could not be parsed. */
    incomplete: reader.incomplete,
    unread: sortedBy(unread.values(), ({ resource }) => resource),
  };
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
    read("nodes", each(readNodeRow), named),
    read("csinodes", each(readCsiNode), named),
    read("csidrivers", each(nameOf)),
    read("volumeattachments", counting),
    read("pods", each(readPendingPod), { fieldSelector: `status.phase=Pending${there}` }),
    // The events that name a missing driver: kubelet's at a mount, the controllers' at an attach.
    read("events", startLatest, because("FailedMount")),
    read("events", each(readNeedEvent), because("FailedAttachVolume")),
  ]);
}

/** The sets with a registrar, their pods, and the limits of their namespaces. */
async function readSets(reader: Reader, target: ClusterTarget, images: OurImage) {
  let number = 0;
  const parse = (item: unknown) => readRegistrarSet(item, number++, images);
  // In an order that does not depend on what was read first.
  const sets = sortedBy(await reader.read("daemonsets", each(parse)), ({ name }) => name);
  // The pods on the node, and those that have no node yet.
  const fields = target.node === undefined ? [undefined] : [target.node, ""];
  const readRunning = createRunningReader(images);
  const pods = sets.flatMap((set) =>
    fields.map((node) => {
      const selected = node === undefined ? {} : { fieldSelector: `spec.nodeName=${node}` };
      const query = { labelSelector: set.selector, ...selected };
      const parsePod = (item: unknown) => readRegistrarPod(item, set, reader.beganMs(), readRunning);
      return reader.read("pods", each(parsePod), query, set.namespace);
    }),
  );
  const namespaces = [...new Set(sets.map(({ namespace }) => namespace))];
  const limits = namespaces.map((namespace) =>
    reader.read(
      "limitranges",
      each((one) => readLimitRange(tree(one))),
      {},
      namespace,
    ),
  );
  const found = (await Promise.all(pods)).flat().filter(({ node }) => isMeant(target, node));
  const all = sortedBy(found, ({ name }) => name);
  return {
    images,
    sets,
    pods: all.filter(({ isLeaving }) => !isLeaving),
    leaving: all.filter(({ isLeaving }) => isLeaving),
    limitRanges: sortedBy((await Promise.all(limits)).flat(), ({ name }) => name),
  };
}
