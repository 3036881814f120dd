import { grouped } from "../findings/grouped";
import { list, text, textOrNone, tree } from "../rules/objects";
import type { Need } from "./facts";

/** Kubelet's words at a mount (pkg/volume/csi/csi_drivers_store.go and csi_plugin.go, "not found in the list"). */
const MOUNT_FAILED = /driver name (\S+) not found in the list of registered CSI drivers/;
/** Those of the attach controllers (pkg/volume/csi/csi_attacher.go; external-attacher, pkg/controller). */
const ATTACH_FAILED = /CSINode \S+ does not contain driver (\S+)/;

/** A pod that waits, and where. */
export interface PendingPod {
  readonly uid: string;
  readonly name: string;
  readonly node: string;
  /** Drivers of its inline volumes. */
  readonly inlineDrivers: readonly string[];
}

/** Undefined for a pod that has no node yet. */
export function readPendingPod(object: unknown): PendingPod | undefined {
  const { metadata, spec } = tree(object);
  const { name, namespace, uid } = tree(metadata);
  const node = textOrNone(tree(spec).nodeName);
  if (node === undefined) return undefined;
  const inlineDrivers = list(tree(spec).volumes).flatMap(
    (volume) => textOrNone(tree(tree(volume).csi).driver) ?? [],
  );
  return { uid: text(uid), name: `${text(namespace)}/${text(name)}`, node, inlineDrivers };
}

/** What an event says of a driver that a pod needs. */
export interface NeedEvent {
  readonly podUid: string;
  readonly driver: string;
}

/** Undefined for an event of anything else. */
export function readNeedEvent(object: unknown): NeedEvent | undefined {
  const { message, involvedObject } = tree(object);
  const [, driver] = MOUNT_FAILED.exec(text(message)) ?? ATTACH_FAILED.exec(text(message)) ?? [];
  const { kind, uid } = tree(involvedObject);
  if (driver === undefined || kind !== "Pod") return undefined;
  return { podUid: text(uid), driver: withoutEnd(driver) };
}

/** The node and the driver that a VolumeAttachment is for. */
export function readAttachment(object: unknown): readonly [node: string, driver: string] | undefined {
  const { attacher, nodeName } = tree(tree(object).spec);
  return typeof attacher === "string" && typeof nodeName === "string" ? [nodeName, attacher] : undefined;
}

/** Sums up what waits, for each driver on each node. */
export function createNeedSum() {
  const needs = new Map<string, { node: string; driver: string; pods: string[]; attachments: number }>();
  const needOf = (node: string, driver: string) => {
    const key = `${node} ${driver}`;
    const need = needs.get(key) ?? { node, driver, pods: [], attachments: 0 };
    needs.set(key, need);
    return need;
  };
  return {
    addAttachment: (node: string, driver: string) => {
      needOf(node, driver).attachments += 1;
    },
    /** What pending pods need: by their inline volumes, and by what events say of them. */
    addPods: (pods: readonly PendingPod[], events: readonly NeedEvent[]) => {
      const told = grouped(events, ({ podUid }) => podUid);
      for (const { uid, name, node, inlineDrivers } of pods) {
        const toldDrivers = told.get(uid)?.map(({ driver }) => driver) ?? [];
        for (const driver of new Set([...inlineDrivers, ...toldDrivers]))
          needOf(node, driver).pods.push(name);
      }
    },
    all: (): readonly Need[] => [...needs.values()],
  };
}

/** The punctuation behind a name in a sentence is no part of it. */
function withoutEnd(name: string): string {
  return name.replace(/[^A-Za-z0-9]+$/, "");
}
