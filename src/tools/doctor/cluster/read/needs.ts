import { attempt } from "../../../../base/errors";
import { list, type Tree, text, textOrNone, tree } from "../../../../kube-api/objects";
import { NODE_ID_ANNOTATION } from "../../../../kubelet-rules/api-validation";
import { grouped } from "../../findings/finding";
import { nameOf } from "../../manifest/read/objects";
import { podIn } from "../../manifest/read/pod";
import { wordsOf } from "../../manifest/read/start";

/** Kubelet's message at a mount (pkg/volume/csi/csi_drivers_store.go and csi_plugin.go, "not found in the list"). */
const MOUNT_FAILED = /driver name (\S+) not found in the list of registered CSI drivers/;
/** The attach controllers' message (pkg/volume/csi/csi_attacher.go; external-attacher, pkg/controller). */
const ATTACH_FAILED = /CSINode \S+ does not contain driver (\S*[A-Za-z0-9])/;

type PendingPod = NonNullable<ReturnType<typeof readPendingPod>>;

/** Undefined for a pod that has no node yet. */
export function readPendingPod(object: unknown) {
  const { metadata, spec } = tree(object);
  const node = textOrNone(tree(spec).nodeName);
  if (node === undefined) return undefined;
  const inlineDrivers = list(tree(spec).volumes).flatMap(
    (volume) => textOrNone(tree(tree(volume).csi).driver) ?? [],
  );
  return { uid: text(tree(metadata).uid), name: nameOf(object), node, inlineDrivers };
}

type NeedEvent = NonNullable<ReturnType<typeof readNeedEvent>>;

export function readNeedEvent(object: unknown) {
  const { message, involvedObject } = tree(object);
  const [, driver] = MOUNT_FAILED.exec(text(message)) ?? ATTACH_FAILED.exec(text(message)) ?? [];
  const { kind, uid } = tree(involvedObject);
  return driver === undefined || kind !== "Pod" ? undefined : { podUid: text(uid), driver };
}

const RESOURCE_EXHAUSTED = 8;

export type Attached = ReturnType<typeof countAttachment>;

/** A VolumeAttachment. `isExhausted`: the driver refused it with gRPC's ResourceExhausted, as the node has no room for it. */
export function readAttachment(object: unknown) {
  const { spec, status } = tree(object);
  const { attacher: driver, nodeName: node } = tree(spec);
  if (typeof driver !== "string" || typeof node !== "string") return undefined;
  const { errorCode, message } = tree(tree(status).attachError);
  const isExhausted = errorCode === RESOURCE_EXHAUSTED || /\bcode = ResourceExhausted\b/.test(text(message));
  return { driver, node, isExhausted };
}

export function countAttachment(
  sums: Map<string, { readonly node: string; readonly driver: string; attachments: number }>,
  { node, driver }: { readonly node: string; readonly driver: string },
) {
  const key = `${node} ${driver}`;
  const sum = sums.get(key) ?? { node, driver, attachments: 0 };
  sum.attachments += 1;
  sums.set(key, sum);
  return sum;
}

export type Need = ReturnType<typeof needsIn>[number];

export function needsIn(
  attached: readonly Attached[],
  pods: readonly PendingPod[],
  events: readonly NeedEvent[],
) {
  const byPod = grouped(events, ({ podUid }) => podUid);
  const waiting = pods.flatMap(({ uid, name, node, inlineDrivers }) => {
    const others = byPod.get(uid)?.map(({ driver }) => driver) ?? [];
    return [...new Set([...inlineDrivers, ...others])].map((driver) => ({ node, driver, pod: name }));
  });
  const groups = grouped([...attached, ...waiting], ({ node, driver }) => `${node} ${driver}`);
  return Array.from(groups.values(), (ones) => {
    const [{ node, driver }] = ones;
    const own = ones.flatMap((one) => ("pod" in one ? one.pod : []));
    const attachments = ones.reduce((sum, one) => sum + ("pod" in one ? 0 : one.attachments), 0);
    return { node, driver, pods: own, attachments };
  });
}

/** A row of `kubectl get nodes`, with the Node's metadata: whole objects are ten times as large. */
export function readNodeRow(row: unknown) {
  const { cells, object } = tree(row);
  const { name, annotations, labels } = tree(tree(object).metadata);
  const [status = ""] = text(list(cells)[1]).split(",");
  const nodeIds = tree(attempt(() => JSON.parse(text(tree(annotations)[NODE_ID_ANNOTATION]))));
  return {
    name: text(name),
    isReady: status === "Ready",
    /** `amd64`; undefined if kubelet has not written the label. */
    architecture: textOrNone(tree(labels)["kubernetes.io/arch"]),
    nodeIds: new Map(Object.entries(nodeIds).map(([driver, id]) => [driver, text(id)])),
  };
}

/** Name of the node, and driver -> node ID. */
export function readCsiNode(object: unknown): readonly [node: string, drivers: ReadonlyMap<string, string>] {
  const { metadata, spec } = tree(object);
  const drivers = list(tree(spec).drivers).map(tree);
  return [text(tree(metadata).name), new Map(drivers.map(({ name, nodeID }) => [text(name), text(nodeID)]))];
}

const IMAGE = /(?:^|\/)cluster-autoscaler(?:-[a-z0-9]+)?(?::v?1\.(\d+)[^/]*|[@:][^/]*)?$/;
const FLAG = /^--?enable-csi-node-aware-scheduling(?:=|$)/;
/** Until 1.34 Cluster Autoscaler has no such flag, and its copy of the scheduler does not look at the field. */
const FIRST_WITH_FLAG = 35;
/** From then on the flag is on without being given. */
const FIRST_ON = 37;

/** The name of a Deployment of Cluster Autoscaler whose simulated nodes have no CSINode; undefined for any other. */
export function readAutoscaler(object: unknown): string | undefined {
  const containers = list(podIn(tree(object)).containers).map(tree);
  return containers.some(isBlind) ? nameOf(object) : undefined;
}

function isBlind(container: Tree): boolean {
  const [image, minor] = IMAGE.exec(text(container.image).replace(/@.*$/, "")) ?? [];
  if (image === undefined) return false;
  const given = wordsOf(container).findLast((word) => FLAG.test(word));
  if (given !== undefined) return /=(?:0|f|F|false|FALSE|False)$/.test(given);
  return Number(minor) >= FIRST_WITH_FLAG && Number(minor) < FIRST_ON;
}
