import { invalidOption } from "../../../../base/errors";
import { type Tree, text, tree } from "../../../../kube-api/objects";
import type { OurImage } from "../../../images/program";
import { nameOf, readCsiDriver, type Unread, unreadAt } from "../../manifest/read/objects";
import type { ListApi, ListFailure } from "./list-api";
import {
  type Attached,
  countAttachment,
  needsIn,
  readAttachment,
  readAutoscaler,
  readCsiNode,
  readNeedEvent,
  readNodeRow,
  readPendingPod,
} from "./needs";
import { readRegistrarPod } from "./pod";
import { isByName, readBinding, readPolicy } from "./policy";
import { createRunningReader, readRegistrarSet } from "./set";

/** Restricts the report to one node or driver; undefined: all. */
export interface ClusterTarget {
  readonly context: string | undefined;
  readonly node: string | undefined;
  readonly driver: string | undefined;
}

/** Of each object it has only the facts that the checks judge, so that a large cluster fits into little memory. */
export type ClusterReading = Awaited<ReturnType<typeof readCluster>>;

/** Before 1.36 Kubernetes serves admission policies that mutate in the next of these versions, if asked to. */
const OLDER: Readonly<Record<string, string>> = { v1: "v1beta1", v1beta1: "v1alpha1" };

/** The lists' resources by their API group, as RBAC names both. */
const RESOURCES = {
  "": ["events", "limitranges", "namespaces", "nodes", "pods"],
  "admissionregistration.k8s.io": ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"],
  apps: ["daemonsets", "deployments"],
  "policies.kyverno.io": ["mutatingpolicies"],
  "storage.k8s.io": ["csidrivers", "csinodes", "volumeattachments"],
} as const;
type Resource = (typeof RESOURCES)[keyof typeof RESOURCES][number];
const GROUPS = new Map<Resource, string>(
  Object.entries(RESOURCES).flatMap(([group, all]) => all.map((one) => [one, group] as const)),
);

/** Their metadata and what kubectl shows of them are enough. */
const AS_TABLE: readonly Resource[] = ["nodes", "namespaces"];

/** More is kept of DaemonSets than of other objects; 5,000 of them fit. */
const MAX_DAEMON_SET_BYTES = 64 * 2 ** 20;

/** Of these groups. Most API servers before Kubernetes 1.36 do not have the policies; the others come with an add-on. */
const MAY_BE_ABSENT = /^(?:admissionregistration|autoscaling|policies\.kyverno)\b/;

/** kubectl without any configuration tries this address. */
const NO_CLUSTER = /(?:127\.0\.0\.1|\[::1\]|localhost):8080/;
const SET_KUBECONFIG =
  "; kubectl seems to have no cluster: set KUBECONFIG, or give --kubeconfig or --context";

/** The reasons of events that name a missing driver: kubelet's at a mount, the controllers' at an attach. */
const REASONS = ["FailedMount", "FailedAttachVolume"];

/**
 * Reads a cluster's lists page by page and keeps the facts that the checks judge. Lists that cannot be read are in `unread`.
 * Rejects with INVALID_OPTION if no list can be read, or the target's node does not exist.
 */
export async function readCluster(
  api: Pick<ListApi, "list">,
  target: ClusterTarget,
  ours: OurImage,
  /** Called with the number of objects of a kind that were read so far. */
  onProgress: (resource: string, count: number) => void,
) {
  const unread = new Map<Resource, ListFailure>();
  const unreadObjects: Unread[] = [];
  const counts = new Map<Resource, number>();
  /** The API server's time when the reading began: what started since then is recent, however long the lists are. */
  let beganMs: number | undefined;

  /** Resolves with what `parse` returns, except undefined; an object for which it throws goes to `unreadObjects`. */
  const read = async <Value>(
    resource: Resource,
    query: Readonly<Record<string, string>>,
    parse: (item: unknown) => Value | undefined,
    namespace = "",
    version = "v1",
  ): Promise<readonly Value[]> => {
    const values: Value[] = [];
    const apiGroup = GROUPS.get(resource) ?? "";
    const group = apiGroup ? `/apis/${apiGroup}/${version}` : "/api/v1";
    const path = `${group}${namespace && `/namespaces/${namespace}`}/${resource}`;
    const maxBytes = resource === "daemonsets" ? MAX_DAEMON_SET_BYTES : undefined;
    const request = { path, query, asTable: AS_TABLE.includes(resource), maxBytes };
    const failure = await api.list(request, (items, dateMs) => {
      beganMs ??= dateMs;
      for (const item of items)
        try {
          const value = parse(item);
          if (value !== undefined) values.push(value);
        } catch (error) {
          unreadObjects.push(unreadAt(`${resource} ${nameOf(item)}`, error));
        }
      const count = (counts.get(resource) ?? 0) + items.length;
      counts.set(resource, count);
      onProgress(resource, count);
    });
    const older = resource.startsWith("mutatingadmission") ? OLDER[version] : undefined;
    if (failure?.kind === "not-found" && older !== undefined)
      return read(resource, query, parse, namespace, older);
    if (failure !== undefined && !(MAY_BE_ABSENT.test(apiGroup) && (await isAbsent(failure, group))))
      unread.set(resource, { ...failure, message: failure.message.replace(/\s+/g, " ") });
    return values;
  };

  /** Without rights the answer is the same where the API server does not have the resource; everybody may ask for its group. */
  const isAbsent = async ({ kind }: ListFailure, group: string) =>
    kind === "not-found" ||
    (kind === "forbidden" && (await api.list({ path: group }, () => {}))?.kind === "not-found");
  const isMeant = (node: string | undefined) =>
    target.node === undefined || node === undefined || node === target.node;
  const isOne = target.node !== undefined;
  const named = isOne ? { fieldSelector: `metadata.name=${target.node}` } : {};
  // The pods on the node, and those that have no node yet.
  const podFields = isOne
    ? [{ fieldSelector: `spec.nodeName=${target.node}` }, { fieldSelector: "spec.nodeName=" }]
    : [{}];
  const readSets = async (images: OurImage) => {
    const sets = await read("daemonsets", {}, (item) => readRegistrarSet(item, images));
    const readRunning = createRunningReader(images);
    const lists = sets.flatMap((set) =>
      podFields.map((fields) => {
        const query = { labelSelector: set.selector, ...fields };
        return read(
          "pods",
          query,
          (item) => readRegistrarPod(item, set, beganMs ?? Date.now(), readRunning),
          set.namespace,
        );
      }),
    );
    const namespaces = [...new Set(sets.map(({ namespace }) => namespace))];
    const limits = namespaces.map((namespace) => read("limitranges", {}, readLimits, namespace));
    const pods = (await Promise.all(lists)).flat().filter(({ node }) => isMeant(node));
    return { sets, pods, limitRanges: (await Promise.all(limits)).flat() };
  };
  /** The policies first: by them the images that they give are known. */
  const readAdmitted = async () => {
    const [ofServer, ofKyverno, bindings] = await Promise.all([
      read("mutatingadmissionpolicies", {}, (item) => readPolicy(item, "kubernetes")),
      read("mutatingpolicies", {}, (item) => readPolicy(item, "kyverno")),
      read("mutatingadmissionpolicybindings", {}, readBinding),
    ]);
    const policies = [...ofServer, ...ofKyverno];
    const images = { ...ours, given: new Set(policies.flatMap(({ image }) => image ?? [])) };
    const own = bindings.filter(({ policy }) => policies.some(({ name }) => name === policy));
    const isNamed = [...policies, ...own].every(({ selection }) => isByName(selection.namespaces));
    const namespaces = isNamed ? [] : await read("namespaces", {}, readNamespace);
    return { ...(await readSets(images)), images, policies, bindings: own, namespaces: new Map(namespaces) };
  };

  // A large cluster has 100,000 of them: only their numbers are kept.
  const attached = new Map<string, Attached>();
  const waitingOn = isOne ? `,spec.nodeName=${target.node}` : "";
  const [
    { sets, pods, limitRanges, images, policies, bindings, namespaces },
    nodes,
    csiNodes,
    csiDriverSpecs,
    pending,
    events,
    exhausted,
  ] = await Promise.all([
    readAdmitted(),
    read("nodes", named, readNodeRow),
    read("csinodes", named, readCsiNode),
    read("csidrivers", {}, (item) => readCsiDriver(item)),
    read("pods", { fieldSelector: `status.phase=Pending${waitingOn}` }, readPendingPod),
    Promise.all(
      REASONS.map((reason) => read("events", { fieldSelector: `reason=${reason}` }, readNeedEvent)),
    ),
    read("volumeattachments", {}, (item) => {
      const attachment = readAttachment(item);
      if (attachment === undefined || !isMeant(attachment.node)) return undefined;
      countAttachment(attached, attachment);
      return attachment.isExhausted ? attachment : undefined;
    }),
  ]);
  // Only these drivers and an autoscaler may not get on.
  const autoscalers = csiDriverSpecs.some(({ keepsPodsOff }) => keepsPodsOff)
    ? await read("deployments", {}, readAutoscaler)
    : [];
  const [failure] = unread.values();
  if (counts.size === 0 && failure !== undefined) {
    const advice = NO_CLUSTER.test(failure.message) ? SET_KUBECONFIG : "";
    throw invalidOption(`nothing can be read of the cluster: ${failure.message}${advice}`);
  }
  if (isOne && !unread.has("nodes") && nodes.length === 0)
    throw invalidOption(`there is no node ${target.node}`);
  /** Undefined: the list could not be read. */
  const ifRead = <Value>(resource: Resource, value: Value) => (unread.has(resource) ? undefined : value);
  return {
    target,
    nowMs: beganMs ?? Date.now(),
    sets,
    limitRanges,
    unreadObjects,
    images,
    policies,
    bindings: ifRead("mutatingadmissionpolicybindings", bindings),
    /** The labels by name; without one that no policy asks for. */
    namespaces,
    // In an order that does not depend on which list was read first.
    pods: [...pods].sort((one, other) => (one.name < other.name ? -1 : 1)),
    nodes: ifRead("nodes", new Map(nodes.map((node) => [node.name, node]))),
    /** Node -> driver -> node ID. */
    csiNodes: ifRead("csinodes", new Map(csiNodes)),
    csiDrivers: ifRead("csidrivers", new Set(csiDriverSpecs.map(({ name }) => name))),
    csiDriverSpecs,
    exhausted,
    autoscalers,
    needs: needsIn([...attached.values()], pending, events.flat()),
    unread: [...unread]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([resource, failure]) => ({ resource, apiGroup: GROUPS.get(resource), ...failure })),
  };
}

function readLimits(object: unknown): Tree {
  const { metadata, spec } = tree(object);
  const { namespace, name } = tree(metadata);
  return { metadata: { namespace, name }, spec };
}

function readNamespace(row: unknown): readonly [name: string, labels: Tree] {
  const { name, labels } = tree(tree(tree(row).object).metadata);
  return [text(name), tree(labels)];
}
