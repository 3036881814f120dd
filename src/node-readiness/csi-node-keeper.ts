import { BACKOFF, type Backoff } from "../base/backoff";
import type { Logger } from "../logging/logger";
import { createRewritePace, earliest, type Keeper, type Pass, valueAt } from "./keeper";
import { done } from "./node-api";

/** What CSINode says of one driver. */
export interface CsiNodeStatus {
  /** The driver's name. */
  readonly driverName: string;
  /** Since when CSINode is known to lack it while kubelet has it registered; milliseconds since the epoch. */
  readonly missedAtMs: number | undefined;
  /** The UID of the deleted Node to which CSINode belongs: kubelet 1.35 to 1.37 has to be restarted. */
  readonly deletedOwner: string | undefined;
  /** How often kubelet was made to register it again. */
  readonly reregistrations: number;
}

interface Memory {
  /** By the wall clock, and by that of the passes. */
  lacking?: { readonly since: number; readonly from: number } | undefined;
  /** When to read CSINode because of this driver; undefined if CSINode lists it. */
  lookAt?: number | undefined;
  /** When kubelet was last made to register it again, for which Node. */
  tried?: { readonly at: number; readonly nodeUid: string };
  reregistrations: number;
}

export const CSI_NODE_PACE = {
  /** CSINode is read after half of this to all of it; kubelet reports its Node as often (nodeStatusReportFrequency). */
  lookEveryMs: 5 * 60_000,
  /** CSINode must lack the driver for this time: kubelet may be about to write it. */
  graceMs: 15_000,
  again: BACKOFF.reregistration as Backoff,
  /** Between two registrations of a driver whose CSINode belongs to a deleted Node: kubelet may need a restart. */
  orphanMs: 60 * 60_000,
};

/** Makes the keeper of CSINode, which kubelet writes only when it registers a driver, and only if there is a Node. */
export function createCsiNodeKeeper(
  log: Logger,
  pace = CSI_NODE_PACE,
  random = Math.random,
): Keeper<CsiNodeStatus> {
  const memories = new Map<string, Memory>();
  const fight = createRewritePace(pace.again, { freeRewrites: 0, random });
  /** When to read CSINode even if it listed every driver; undefined while no driver is registered. */
  let nextLookAt: number | undefined;
  const afterLeisure = (now: number) => now + (pace.lookEveryMs / 2) * (1 + random());
  const memoryOf = (driverName: string) =>
    valueAt<Memory>(memories, driverName, () => ({ reregistrations: 0 }));

  let nodeUid: string | undefined;
  /** The deleted Node of the last warning. */
  let warnedOf: string | undefined;

  const onLook = (csiDriverName: string, reregister: () => boolean, pass: Pass): void => {
    const { csiNode, node, now } = pass;
    const memory = memoryOf(csiDriverName);
    if (csiNode.listing(csiDriverName) === "listed") {
      if (memory.lookAt !== undefined) log.info("CSINode lists the driver again", { csiDriverName });
      Object.assign(memory, { lacking: undefined, lookAt: undefined });
      return;
    }
    memory.lacking ??= { since: Date.now(), from: now };
    const { from } = memory.lacking;
    const nodeUid = node.now?.uid ?? "";
    const { deletedOwner } = csiNode;
    if (deletedOwner !== undefined && deletedOwner !== warnedOf && now >= from + pace.graceMs) {
      warnedOf = deletedOwner;
      const facts = { csiDriverName, deletedNode: deletedOwner, node: nodeUid };
      log.warn(OWNER_IS_DELETED, { ...facts, check: OWNER_CHECK });
    }
    const tryAt = nextTryAt(memory, from, pass, pace, () => fight.waitMs(csiDriverName, "", now));
    const isYoung = deletedOwner !== undefined && now - from < pace.lookEveryMs;
    memory.lookAt = now < tryAt && isYoung ? Math.min(tryAt, now + pace.graceMs) : tryAt;
    if (now < tryAt) return;
    memory.lookAt = now + pace.graceMs;
    if (!reregister()) return; // Kubelet is asking about the driver, and will write CSINode itself.
    fight.wrote(csiDriverName, "", now);
    memory.tried = { at: now, nodeUid };
    memory.reregistrations += 1;
    log.warn("CSINode lacks a driver that kubelet has registered, registering it again", {
      csiDriverName,
      lackingFor: `${Math.round((now - from) / 1000)}s`,
      times: memory.reregistrations,
      check: "who deletes the CSINode, or takes the driver out of it? Was the Node deleted and made again?",
    });
  };

  return {
    pass: async (registrations, pass) => {
      const { now } = pass;
      const node = pass.node.now;
      const subjects = registrations.flatMap(({ driverName, state, reregister }) => {
        const isSubject = node && driverName !== undefined && state === "registered" && reregister;
        return isSubject ? { driverName, reregister } : [];
      });
      for (const [name, memory] of memories) {
        if (registrations.every(({ driverName }) => driverName !== name)) memories.delete(name);
        if (memory.lacking === undefined || subjects.some(({ driverName }) => driverName === name)) continue;
        // It is looked at once it is registered: the garbage collector may be quick.
        Object.assign(memory, { lacking: undefined, lookAt: now });
      }
      if (subjects.length === 0) {
        nextLookAt = undefined;
        return done(undefined);
      }
      // CSINode goes with the Node that was deleted.
      const isReplaced = nodeUid !== undefined && nodeUid !== node?.uid;
      nextLookAt = isReplaced ? now + pace.graceMs : (nextLookAt ?? afterLeisure(now));
      nodeUid = node?.uid;
      const due = () =>
        earliest(nextLookAt, ...subjects.map(({ driverName }) => memoryOf(driverName).lookAt)) ?? now;
      if (now >= due()) {
        const read = await pass.readCsiNode();
        if (read.kind === "failed") return read;
        nextLookAt = afterLeisure(now);
        for (const { driverName, reregister } of subjects) onLook(driverName, reregister, pass);
      }
      return done(due() - now);
    },
    status: (registrations, _node, { deletedOwner }) =>
      registrations.flatMap(({ driverName = "" }) => {
        const { lacking, reregistrations } = memories.get(driverName) ?? {};
        if (reregistrations === undefined) return [];
        return { driverName, missedAtMs: lacking?.since, deletedOwner, reregistrations };
      }),
  };
}

const OWNER_IS_DELETED = "CSINode belongs to a deleted Node of the same name, volumes cannot be attached";
const OWNER_CHECK =
  "restart kubelet 1.35 to 1.37 on this node; others get a new registration once CSINode is collected";

/** When kubelet may be made to register a driver again that CSINode has lacked since `from`. */
function nextTryAt(
  { tried }: Memory,
  from: number,
  { csiNode, node, now }: Pass,
  { graceMs, orphanMs }: typeof CSI_NODE_PACE,
  fightMs: () => number,
): number {
  if (csiNode.deletedOwner === undefined) return Math.max(from + graceMs, now + fightMs());
  // While there is a CSINode, kubelets up to 1.34 would write into it, and it will be collected all the same.
  const last = tried?.nodeUid === node.now?.uid ? tried?.at : undefined;
  if (csiNode.isOwned) return Math.max(from, last ?? 0) + orphanMs;
  return last === undefined ? from + graceMs : last + orphanMs;
}
