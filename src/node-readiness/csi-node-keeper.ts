import { BACKOFF, type Backoff } from "../base/backoff";
import type { Logger } from "../logging/logger";
import type { ObservedRegistration } from "./observed-registrations";
import { earlier, type Pass, type PassOutcome } from "./pass";
import { createRewritePace } from "./rewrite-pace";

/** When to look at CSINode, and what to wait for before a driver is registered anew; milliseconds. */
export interface CsiNodePace {
  /** CSINode is looked at after half of this to all of it: nodes that start together must not look together. */
  readonly lookEveryMs: number;
  /** CSINode must lack the driver for so long: kubelet may be about to write it. */
  readonly graceMs: number;
  /** Between two times that one driver is registered anew. */
  readonly again: Backoff;
}

/** As often as kubelet reports a Node on which nothing changes (nodeStatusReportFrequency). */
const LOOK_EVERY_MS = 5 * 60_000;
const GRACE_MS = 15_000;

export const CSI_NODE_PACE: CsiNodePace = {
  lookEveryMs: LOOK_EVERY_MS,
  graceMs: GRACE_MS,
  again: BACKOFF.reregistration,
};

/** What there is to tell of one driver in CSINode. */
export interface CsiNodeStatus {
  readonly driverName: string;
  /** Since when CSINode is known to lack it while kubelet has it registered; milliseconds since the epoch. */
  readonly lackingSince: number | undefined;
  /** How often kubelet was made to register it anew. */
  readonly reregistrations: number;
}

/** Sees to it that CSINode lists each driver that kubelet says is registered. */
export interface CsiNodeKeeper {
  pass(registrations: readonly ObservedRegistration[], pass: Pass): Promise<PassOutcome>;
  status(registrations: readonly ObservedRegistration[]): readonly CsiNodeStatus[];
}

interface Memory {
  lackingSince: number | undefined;
  /** When to look because of this driver, milliseconds since the epoch; undefined while nothing is wrong with it. */
  lookAt: number | undefined;
  reregistrations: number;
}

interface Subject {
  readonly driverName: string;
  readonly reregister: () => boolean;
}

/**
 * Makes the keeper. Kubelet writes CSINode when it registers a driver, and not again when somebody deletes the object or
 * an entry; so the driver is registered anew. Nothing is done where the Node itself is missing: kubelet could not write.
 */
export function createCsiNodeKeeper({
  log: parentLog,
  pace = CSI_NODE_PACE,
  random = Math.random,
}: {
  readonly log: Logger;
  readonly pace?: CsiNodePace | undefined;
  readonly random?: () => number;
}): CsiNodeKeeper {
  const log = parentLog.named("csi-node-keeper");
  const memories = new Map<string, Memory>();
  const fight = createRewritePace(pace.again, { freeRewrites: 0, random });
  /** When to look though nothing is known to be wrong; undefined while no driver is registered. */
  let nextLookAt: number | undefined;
  const afterLeisure = (now: number) => now + (pace.lookEveryMs / 2) * (1 + random());

  const memoryOf = (driverName: string): Memory => {
    const known = memories.get(driverName);
    if (known !== undefined) return known;
    const fresh = { lackingSince: undefined, lookAt: undefined, reregistrations: 0 };
    memories.set(driverName, fresh);
    return fresh;
  };

  const judge = ({ driverName, reregister }: Subject, isListed: boolean, now: number): void => {
    const memory = memoryOf(driverName);
    if (isListed) {
      if (memory.lookAt !== undefined)
        log.info("CSINode lists the driver again", { csiDriverName: driverName });
      memory.lackingSince = undefined;
      memory.lookAt = undefined;
      return;
    }
    memory.lackingSince ??= now;
    const due = Math.max(memory.lackingSince + pace.graceMs, now + fight.waitMs(driverName, "", now));
    memory.lookAt = due;
    if (now < due) return;
    memory.lookAt = now + pace.graceMs;
    if (!reregister()) return; // Kubelet is asking about the driver, and will write CSINode itself.
    fight.wrote(driverName, "", now);
    memory.reregistrations += 1;
    log.warn("CSINode lacks the driver, though kubelet has registered it: registering it anew", {
      csiDriverName: driverName,
      lackingFor: `${Math.round((now - memory.lackingSince) / 1000)}s`,
      times: memory.reregistrations,
      check: "who deletes the CSINode, or takes the driver out of it?",
    });
  };

  return {
    pass: async (registrations, { now, store, listedDrivers }) => {
      const subjects = registrations.flatMap(({ driverName, state, reregister }): Subject[] =>
        store.node && driverName !== undefined && state === "registered" && reregister
          ? [{ driverName, reregister }]
          : [],
      );
      for (const [driverName, memory] of memories)
        if (subjects.every((subject) => subject.driverName !== driverName)) memory.lackingSince = undefined;
      if (subjects.length === 0) {
        nextLookAt = undefined;
        return { kind: "settled" };
      }
      nextLookAt ??= afterLeisure(now);
      const due = () =>
        subjects.map(({ driverName }) => memoryOf(driverName).lookAt).reduce(earlier, nextLookAt) ?? now;
      if (now >= due()) {
        const listed = await listedDrivers();
        if (listed.kind === "failed")
          return { kind: "failed", doing: "reading CSINode", failure: listed.failure };
        nextLookAt = afterLeisure(now);
        for (const subject of subjects) judge(subject, listed.value.includes(subject.driverName), now);
      }
      return { kind: "settled", againInMs: due() - now };
    },
    status: (registrations) =>
      registrations.flatMap(({ driverName = "" }) => {
        const memory = memories.get(driverName);
        if (memory === undefined) return [];
        const { lackingSince, reregistrations } = memory;
        return [{ driverName, lackingSince, reregistrations }];
      }),
  };
}
