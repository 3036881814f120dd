import { list, needed, text, textOrNone, tree } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import type { Taint } from "../../../../node-readiness/node-api";
import type { Told } from "../../findings/opened";
import { beyond, listFrom, type SeenList, toldOf } from "../../findings/seen";
import { conditionsOf, inlineDriversOf, ownersOf, pastOrNone } from "./fields";
import type { Identity } from "./reader";

/** Kubelet's message at a mount (pkg/volume/csi/csi_drivers_store.go and csi_plugin.go, "not found in the list"). */
const MOUNT_FAILED = /driver name (?<driver>\S+) not found in the list of registered CSI drivers/;
/** The attach controllers' message (pkg/volume/csi/csi_attacher.go; external-attacher, pkg/controller). */
const ATTACH_FAILED = /CSINode (?<node>\S+) does not contain driver (?<driver>\S*[A-Za-z0-9])/;

type PendingPod = NonNullable<ReturnType<typeof readPendingPod>>;

/** Undefined for a pod that has no node yet. */
export function readPendingPod(object: unknown, { uid, name }: Identity) {
  const { spec } = tree(object);
  const node = textOrNone(tree(spec).nodeName);
  if (node === undefined) return undefined;
  return { uid, name, node, inlineDrivers: inlineDriversOf(spec) };
}

type NeedEvent = NonNullable<ReturnType<typeof readNeedEvent>>;

/** An event that names a driver which a pod waits for. */
export function readNeedEvent(object: unknown, { sentMs }: Pick<Identity, "sentMs">) {
  const { message, involvedObject, source } = tree(object);
  const ofMount = MOUNT_FAILED.exec(text(message));
  const { groups = {} } = ofMount ?? ATTACH_FAILED.exec(text(message)) ?? {};
  const { driver, node = textOrNone(tree(source).host) } = groups;
  if (driver === undefined) return undefined;
  const { kind, uid } = tree(involvedObject);
  if (needed("involvedObject.kind", textOrNone(kind)) !== "Pod") return undefined;
  const deniedMs =
    ofMount === null ? undefined : pastOrNone(needed("lastTimestamp", lastTimeOf(object)), sentMs);
  return { podUid: needed("involvedObject.uid", textOrNone(uid)), driver, node, deniedMs };
}

/** When it last occurred: of a recorder of `events.k8s.io`, its series says so, and before a second time its own time. */
function lastTimeOf(object: unknown): unknown {
  const { lastTimestamp, series, eventTime } = tree(object);
  return lastTimestamp ?? tree(series).lastObservedTime ?? eventTime ?? undefined;
}

/** Collects the events of failed mounts: those that name a driver, and of each pod the latest other one. */
export function startMountEvents() {
  const needs: NeedEvent[] = [];
  const latest = new Map<
    string,
    { readonly podUid: string; readonly at: string; readonly message: string }
  >();
  const add = (object: unknown, identity: Identity) => {
    const need = readNeedEvent(object, identity);
    if (need !== undefined) return void needs.push(need);
    const { message, involvedObject } = tree(object);
    const podUid = text(tree(involvedObject).uid);
    const event = { podUid, at: text(lastTimeOf(object)), message: boundText(text(message)) };
    const known = latest.get(podUid);
    if (known === undefined || [known.at, known.message] < [event.at, event.message])
      latest.set(podUid, event);
  };
  return { values: () => [...needs, ...latest.values()], add };
}

export interface Attached {
  readonly node: string;
  readonly driver: string;
  readonly attachments: Told<number>;
}

/** Counts the VolumeAttachments of each driver on each node that is meant. */
export const countAttachments = (isMeant: (node: string) => boolean) => () => {
  const values = new Map<string, { readonly node: string; readonly driver: string; count: number }>();
  const add = (object: unknown) => {
    const { attacher, nodeName } = tree(tree(object).spec);
    const [driver, node] = [text(attacher), text(nodeName)];
    if (!isMeant(node)) return;
    const key = `${node} ${driver}`;
    const sum = values.get(key) ?? { node, driver, count: 0 };
    sum.count += 1;
    values.set(key, sum);
  };
  const toAttached = ({ count, ...at }: { count: number; node: string; driver: string }): Attached => ({
    ...{ ...at, attachments: toldOf(count) },
  });
  return { values: () => Array.from(values.values(), toAttached), add };
};

export interface Waiting {
  readonly node: string;
  readonly driver: string;
  readonly pod: string;
  /** When kubelet said that it does not have the driver, in milliseconds since the epoch. */
  readonly denials: SeenList<number>;
}

/** The pods that wait for a driver: they have a volume of it, or an event names it. */
export function waitingIn(pods: SeenList<PendingPod>, events: SeenList<NeedEvent>): SeenList<Waiting> {
  const eventsOf = events.by(({ podUid }) => podUid);
  return pods.flatMap(({ uid, name, node, inlineDrivers }) =>
    listFrom(inlineDrivers)
      .map((driver): Pick<NeedEvent, "driver" | "deniedMs"> => ({ driver, deniedMs: undefined }))
      .with(eventsOf(uid).map(({ driver, deniedMs }) => ({ driver, deniedMs })))
      .grouped(({ driver }) => driver)
      .map((own) => {
        const denials = own.flatMap(({ deniedMs }) => deniedMs);
        return { node, driver: own.first.driver, pod: name, denials };
      }),
  );
}

export function readNode(object: unknown, { name, uid, createdMs }: Identity) {
  const { spec, status } = tree(object);
  const ready = conditionsOf(status).find(({ type }) => type === "Ready");
  return {
    ...{ name, uid, createdMs },
    /** The status of its condition Ready: of a node that does not report `Unknown`. */
    ready: needed("condition Ready", ready).status,
    taints: list(tree(spec).taints).map((taint): Taint => {
      const { key, value, effect } = tree(taint);
      return { key: text(key), value: text(value), effect: text(effect) };
    }),
  };
}

export function readCsiNode(object: unknown, { name, createdMs }: Identity) {
  const { metadata, spec } = tree(object);
  const owners = ownersOf(tree(metadata)).flatMap(({ kind, uid }) => (kind === "Node" ? uid : []));
  return {
    ...{ node: name, createdMs },
    drivers: new Set(list(tree(spec).drivers).map((one) => text(tree(one).name))),
    /** The UIDs of the Nodes that it belongs to; unknown where it does not say. */
    owners: listFrom<string>(owners.length > 0 ? owners : { kind: "unread", gap: beyond("csinodes", name) }),
  };
}
