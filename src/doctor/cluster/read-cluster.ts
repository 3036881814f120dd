import { invalidOption } from "../../base/errors";
import { type ReadSettings, unreadAt } from "../manifest/deployment";
import { text, textOrNone, tree } from "../rules/objects";
import type { ListApi, ListFailure, ListRequest } from "./api";
import type { ClusterReading, ClusterTarget, NodeFacts, RegistrarPod, RegistrarSet, Unread } from "./facts";
import {
  createNeedSum,
  type NeedEvent,
  type PendingPod,
  readAttachment,
  readNeedEvent,
  readPendingPod,
} from "./read-needs";
import { readCsiNode, readNodeRow } from "./read-node";
import { readRegistrarPod } from "./read-pod";
import { readRegistrarSet } from "./read-set";

export interface ReadOptions {
  /** What a container's arguments come to, by the registrar's own parser. */
  readonly settingsOf: ReadSettings;
  /** Called with the number of objects of a kind that were read so far. */
  readonly onProgress: (resource: string, count: number) => void;
}

interface ClusterList extends ListRequest {
  /** As RBAC names it. */
  readonly resource: string;
  readonly apiGroup: string;
  /** What is unknown without it. */
  readonly unknown: string;
}

const listOf = (apiGroup: string, resource: string, unknown: string): ClusterList => {
  const path = apiGroup === "" ? `/api/v1/${resource}` : `/apis/${apiGroup}/v1/${resource}`;
  return { apiGroup, resource, path, unknown };
};
const DAEMON_SETS: ClusterList = {
  ...listOf("apps", "daemonsets", "which registrars there are to be, and how their pods are"),
  // More is kept of these than of other objects; 5,000 of them fit.
  maxBytes: 64 * 2 ** 20,
};
const CSI_NODES = listOf("storage.k8s.io", "csinodes", "which drivers kubelet has registered");
const CSI_DRIVERS = listOf("storage.k8s.io", "csidrivers", "whether a driver has its CSIDriver object");
const ATTACHMENTS = listOf("storage.k8s.io", "volumeattachments", "which attached volumes need a driver");
const NODES: ClusterList = {
  ...listOf("", "nodes", "whether nodes are ready, and which node IDs they have"),
  asTable: true,
};
const PODS = listOf("", "pods", "how the registrars' pods are, and which pods wait");
const EVENTS = listOf("", "events", "which pods wait for a driver");

/** What events with these reasons say of a driver: kubelet's at a mount, the controllers' at an attach. */
const REASONS = ["FailedMount", "FailedAttachVolume"];

/**
 * Reads a cluster's lists page by page, and keeps of each object what is judged. Lists that cannot be read are named in
 * what it resolves with. Rejects where not one can be read, and where the node that is asked for is not there.
 */
export async function readCluster(
  api: ListApi,
  target: ClusterTarget,
  { settingsOf, onProgress }: ReadOptions,
): Promise<ClusterReading> {
  const unread = new Map<string, Unread>();
  const unreadObjects: ClusterReading["unreadObjects"][number][] = [];
  const counts = new Map<string, number>();
  let nowMs: number | undefined;
  let answered = 0;

  /** Whether it was read to its end. */
  const read = async (list: ClusterList, query: ListRequest["query"], onItem: (item: unknown) => void) => {
    const { resource, apiGroup, unknown } = list;
    const failure = await api.list({ ...list, ...(query && { query }) }, ({ items, dateMs }) => {
      nowMs ??= dateMs;
      for (const item of items)
        try {
          onItem(item);
        } catch (error) {
          unreadObjects.push(unreadAt(`${resource} ${objectName(item)}`, error));
        }
      const count = (counts.get(resource) ?? 0) + items.length;
      counts.set(resource, count);
      onProgress(resource, count);
    });
    if (failure === undefined) answered += 1;
    else unread.set(resource, { resource, apiGroup, unknown, ...plain(failure) });
    return failure === undefined;
  };

  const isMeant = (node: string | undefined) => target.node === undefined || node === target.node;
  const named = target.node === undefined ? undefined : { fieldSelector: `metadata.name=${target.node}` };

  const sets: RegistrarSet[] = [];
  const pods: RegistrarPod[] = [];
  const readSets = async () => {
    await read(DAEMON_SETS, undefined, (item) => sets.push(...one(readRegistrarSet(item, settingsOf))));
    await Promise.all(sets.flatMap((set) => podSelectors(target).map((selector) => readPods(set, selector))));
  };
  const readPods = async (set: RegistrarSet, fieldSelector: string | undefined) => {
    const [namespace] = set.name.split("/");
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const query = { labelSelector: set.selector, ...(fieldSelector !== undefined && { fieldSelector }) };
    await read({ ...PODS, path }, query, (item) => {
      const pod = readRegistrarPod(item, set, nowMs ?? Date.now());
      if (pod !== undefined && (pod.node === undefined || isMeant(pod.node))) pods.push(pod);
    });
  };

  const nodes = new Map<string, NodeFacts>();
  const csiNodes = new Map<string, ReadonlyMap<string, string>>();
  const csiDrivers = new Set<string>();
  const needs = createNeedSum();
  const pending: PendingPod[] = [];
  const events: NeedEvent[] = [];
  const waitingOn = target.node === undefined ? "" : `,spec.nodeName=${target.node}`;
  const [, hasNodes, hasCsiNodes, hasCsiDrivers] = await Promise.all([
    readSets(),
    read(NODES, named, (item) => {
      const node = readNodeRow(item);
      nodes.set(node.name, node);
    }),
    read(CSI_NODES, named, (item) => csiNodes.set(...readCsiNode(item))),
    read(CSI_DRIVERS, undefined, (item) => csiDrivers.add(text(tree(tree(item).metadata).name))),
    read(ATTACHMENTS, undefined, (item) => {
      const [node, driver] = readAttachment(item) ?? [];
      if (node !== undefined && driver !== undefined && isMeant(node)) needs.addAttachment(node, driver);
    }),
    read(PODS, { fieldSelector: `status.phase=Pending${waitingOn}` }, (item) => {
      pending.push(...one(readPendingPod(item)));
    }),
    ...REASONS.map((reason) =>
      read(EVENTS, { fieldSelector: `reason=${reason}` }, (item) => events.push(...one(readNeedEvent(item)))),
    ),
  ]);
  needs.addPods(pending, events);

  const [failure] = unread.values();
  if (answered === 0 && failure !== undefined)
    throw invalidOption(`nothing can be read of the cluster: ${failure.message}${adviceOn(failure.message)}`);
  if (hasNodes && target.node !== undefined && nodes.size === 0)
    throw invalidOption(`there is no node ${target.node}`);
  return {
    target,
    nowMs: nowMs ?? Date.now(),
    sets,
    unreadObjects,
    // In an order that does not depend on which list was read first.
    pods: pods.sort((one, other) => (one.name < other.name ? -1 : 1)),
    nodes: hasNodes ? nodes : undefined,
    csiNodes: hasCsiNodes ? csiNodes : undefined,
    csiDrivers: hasCsiDrivers ? csiDrivers : undefined,
    needs: needs.all(),
    unread: [...unread.values()].sort((one, other) => (one.resource < other.resource ? -1 : 1)),
  };
}

/** Of one node: the pods that are there, and those that have no node yet. */
function podSelectors({ node }: ClusterTarget): readonly (string | undefined)[] {
  return node === undefined ? [undefined] : [`spec.nodeName=${node}`, "spec.nodeName="];
}

/** `NAMESPACE/NAME`, or the name alone of an object that is in no namespace. */
function objectName(item: unknown): string {
  const { namespace, name } = tree(tree(item).metadata);
  return [namespace, name].flatMap((part) => textOrNone(part) ?? []).join("/");
}

function one<Value>(value: Value | undefined): readonly Value[] {
  return value === undefined ? [] : [value];
}

/** kubectl without any configuration tries this address. */
function adviceOn(message: string): string {
  return /(?:127\.0\.0\.1|\[::1\]|localhost):8080/.test(message)
    ? "; kubectl seems to have no cluster: set KUBECONFIG, or give --kubeconfig or --context"
    : "";
}

/** A message on one line. */
function plain({ isForbidden, message }: ListFailure): ListFailure {
  return { isForbidden, message: message.replace(/\s+/g, " ") };
}
