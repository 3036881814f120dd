import { BACKOFF, type Backoff } from "../base/backoff";
import type { Logger } from "../logging/logger";
import { createRewritePace, earliest, type Keeper, valueAt } from "./keeper";
import { done } from "./node-api";

export interface CsiNodeStatus {
  readonly driverName: string;
  /** Since when CSINode is known to lack it while kubelet has it registered; milliseconds since the epoch. */
  readonly lackingSince: number | undefined;
  /** How often kubelet was made to register it again. */
  readonly reregistrations: number;
}

interface Memory {
  /** By the wall clock, and by that of the passes. */
  lacking?: { readonly since: number; readonly from: number } | undefined;
  /** When to read CSINode because of this driver; undefined if CSINode lists it. */
  lookAt?: number | undefined;
  reregistrations: number;
}

export const CSI_NODE_PACE = {
  /** CSINode is read after half of this to all of it; kubelet reports its Node as often (nodeStatusReportFrequency). */
  lookEveryMs: 5 * 60_000,
  /** CSINode must lack the driver for this time: kubelet may be about to write it. */
  graceMs: 15_000,
  again: BACKOFF.reregistration as Backoff,
};

/** Makes the keeper of CSINode, which kubelet writes only when it registers a driver, and only if there is a Node. */
export function createCsiNodeKeeper(
  parentLog: Logger,
  pace = CSI_NODE_PACE,
  random = Math.random,
): Keeper<CsiNodeStatus> {
  const log = parentLog.named("csi-node-keeper");
  const memories = new Map<string, Memory>();
  const fight = createRewritePace(pace.again, { freeRewrites: 0, random });
  /** When to read CSINode even if it listed every driver; undefined while no driver is registered. */
  let nextLookAt: number | undefined;
  const afterLeisure = (now: number) => now + (pace.lookEveryMs / 2) * (1 + random());
  const memoryOf = (driverName: string) =>
    valueAt<Memory>(memories, driverName, () => ({ reregistrations: 0 }));

  const onLook = (csiDriverName: string, reregister: () => boolean, isListed: boolean, now: number): void => {
    const memory = memoryOf(csiDriverName);
    if (isListed) {
      if (memory.lookAt !== undefined) log.info("CSINode lists the driver again", { csiDriverName });
      memory.lacking = undefined;
      memory.lookAt = undefined;
      return;
    }
    memory.lacking ??= { since: Date.now(), from: now };
    memory.lookAt = Math.max(memory.lacking.from + pace.graceMs, now + fight.waitMs(csiDriverName, "", now));
    if (now < memory.lookAt) return;
    memory.lookAt = now + pace.graceMs;
    if (!reregister()) return; // Kubelet is asking about the driver, and will write CSINode itself.
    fight.wrote(csiDriverName, "", now);
    memory.reregistrations += 1;
    log.warn("CSINode lacks a driver that kubelet has registered, registering it again", {
      csiDriverName,
      lackingFor: `${Math.round((now - memory.lacking.from) / 1000)}s`,
      times: memory.reregistrations,
      check: "who deletes the CSINode, or takes the driver out of it?",
    });
  };

  return {
    pass: async (registrations, { now, store, listedDrivers }) => {
      const subjects = registrations.flatMap(({ driverName, state, reregister }) => {
        const isSubject = store.node && driverName !== undefined && state === "registered" && reregister;
        return isSubject ? { driverName, reregister } : [];
      });
      for (const [name, memory] of memories) {
        if (registrations.every(({ driverName }) => driverName !== name)) memories.delete(name);
        if (subjects.every(({ driverName }) => driverName !== name)) memory.lacking = undefined;
      }
      if (subjects.length === 0) {
        nextLookAt = undefined;
        return done(undefined);
      }
      nextLookAt ??= afterLeisure(now);
      const due = () =>
        earliest(nextLookAt, ...subjects.map(({ driverName }) => memoryOf(driverName).lookAt)) ?? now;
      if (now >= due()) {
        const listed = await listedDrivers();
        if (listed.kind === "failed") return listed;
        nextLookAt = afterLeisure(now);
        for (const { driverName, reregister } of subjects)
          onLook(
            driverName,
            reregister,
            listed.value.some(({ name }) => name === driverName),
            now,
          );
      }
      return done(due() - now);
    },
    status: (registrations) =>
      registrations.flatMap(({ driverName = "" }) => {
        const memory = memories.get(driverName);
        if (memory === undefined) return [];
        return { driverName, lackingSince: memory.lacking?.since, reregistrations: memory.reregistrations };
      }),
  };
}
