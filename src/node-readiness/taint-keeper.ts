import { BACKOFF, type Backoff, backoffMs } from "../backoff";
import type { Logger } from "../logging/logger";
import type { Taint } from "./api/node";
import type { ObservedRegistration } from "./observed-registrations";
import { earlier, type Pass, type PassOutcome } from "./pass";
import { findTaints, planRemoval, type StartupTaint, startupTaintsOf, taintText } from "./startup-taint";

/** How often to do what others may undo. */
export interface TaintPace {
  /** While CSINode does not list a driver that kubelet says is registered. */
  readonly unlisted: Backoff;
  /** Between removals of a taint that somebody puts back again and again, beyond the first three in a minute. */
  readonly fight: Backoff;
}

export const TAINT_PACE: TaintPace = {
  unlisted: BACKOFF.unlistedDriver,
  fight: BACKOFF.taintFight,
};

/** What there is to tell of the startup taints of one driver. */
export interface TaintStatus {
  readonly driverName: string;
  /** As kubectl writes it; `KEY` where it is not on the Node. */
  readonly taint: string;
  readonly present: boolean;
  /** Since when kubelet has the driver registered and the taint is on all the same; milliseconds since the epoch. */
  readonly overdueSince: number | undefined;
  /** Why it is still on, where it should be gone. */
  readonly hindrance: string | undefined;
  readonly removals: number;
  /** From kubelet's registration status to the moment when it was seen to be gone. */
  readonly lastRemovalMs: number | undefined;
}

/** Takes the startup taints off that are due. */
export interface TaintKeeper {
  pass(registrations: readonly ObservedRegistration[], pass: Pass): Promise<PassOutcome>;
  status(registrations: readonly ObservedRegistration[], pass: Pick<Pass, "store">): readonly TaintStatus[];
}

/** Conflicts in a row that are answered at once: each brings the newest state along. */
const TRIES_AT_ONCE = 5;
const FIGHT_WINDOW_MS = 60_000;
const FREE_REMOVALS = 3;

interface Due {
  readonly driverName: string;
  readonly registeredAt: number;
  readonly taint: Taint;
}

interface Memory {
  removals: number;
  lastRemovalMs: number | undefined;
  overdueSince: number | undefined;
  hindrance: string | undefined;
  /** When it was removed, within the last minute. */
  recent: readonly number[];
}

const asStartupTaint = ({ taint: { key, effect } }: Due): StartupTaint => ({ key, effect });

const isSame = (one: Due, other: Due) =>
  one.driverName === other.driverName && one.taint.key === other.taint.key;

/** Makes a keeper of the startup taints `wanted`, which may have `{driver}` in them. */
export function createTaintKeeper(
  wanted: readonly StartupTaint[],
  { log: parentLog, pace = TAINT_PACE }: { readonly log: Logger; readonly pace?: TaintPace | undefined },
): TaintKeeper {
  const log = parentLog.named("taint-keeper");
  /** By driver and key. */
  const memories = new Map<string, Memory>();
  /** Patched away and not yet seen to be gone. */
  let unconfirmed: readonly Due[] = [];
  let unlistedPasses = 0;

  const memoryOf = (driverName: string, key: string): Memory => {
    const name = `${driverName}\n${key}`;
    const known = memories.get(name);
    if (known !== undefined) return known;
    const fresh = {
      removals: 0,
      lastRemovalMs: undefined,
      overdueSince: undefined,
      hindrance: undefined,
      recent: [],
    };
    memories.set(name, fresh);
    return fresh;
  };

  const findDue = (registrations: readonly ObservedRegistration[], { store }: Pick<Pass, "store">) => {
    const { node } = store;
    if (node === undefined) return [];
    return registrations.flatMap(({ driverName, state, registeredAt = 0 }): Due[] => {
      if (driverName === undefined || state !== "registered") return [];
      const taints = findTaints(node, startupTaintsOf(driverName, wanted));
      return taints.map((taint) => ({ driverName, registeredAt, taint }));
    });
  };

  /** What is remembered of taints that are not there. */
  const forgettable = (present: readonly Due[]) => {
    const kept = present.map(({ driverName, taint }) => memoryOf(driverName, taint.key));
    return [...memories.values()].filter((memory) => !kept.includes(memory));
  };

  /** Reads the Node anew and says of what was patched away whether it is gone. */
  const confirm = async ({ api, store, signal }: Pass): Promise<PassOutcome | undefined> => {
    const got = await api.getNode(signal);
    if (got.kind === "failed") return { kind: "failed", doing: "reading the Node", failure: got.failure };
    store.see(got.value);
    const now = Date.now();
    for (const { driverName, registeredAt, taint } of unconfirmed) {
      const memory = memoryOf(driverName, taint.key);
      const facts = { taint: taintText(taint), csiDriverName: driverName };
      memory.recent = [...memory.recent, now];
      if (findTaints(got.value, [taint]).length > 0) {
        log.warn("Startup taint was removed, and somebody put it back", facts);
        continue;
      }
      memory.removals += 1;
      memory.lastRemovalMs = now - registeredAt;
      memory.overdueSince = undefined;
      memory.hindrance = undefined;
      log.info("Startup taint removed", { ...facts, afterRegistration: `${memory.lastRemovalMs / 1000}s` });
    }
    unconfirmed = [];
    return undefined;
  };

  /** How long to leave a taint alone that comes back again and again. */
  const waitOf = (memory: Memory, now: number): number => {
    memory.recent = memory.recent.filter((at) => now - at < FIGHT_WINDOW_MS);
    const beyond = memory.recent.length - FREE_REMOVALS;
    const last = memory.recent.at(-1);
    return beyond < 0 || last === undefined ? 0 : last + backoffMs(pace.fight, beyond, () => 0) - now;
  };

  const remove = async (due: readonly Due[], pass: Pass): Promise<PassOutcome | undefined> => {
    const { store, api, signal } = pass;
    for (let attempt = 1; ; attempt += 1) {
      const patch = store.node && planRemoval(store.node, due.map(asStartupTaint));
      if (patch === undefined) return undefined;
      const patched = await api.patchNode(patch, signal);
      if (patched.kind === "done") {
        unconfirmed = due;
        return confirm(pass);
      }
      if (patched.failure.kind !== "conflict" || attempt >= TRIES_AT_ONCE)
        return { kind: "failed", doing: "removing startup taints", failure: patched.failure };
      const fresh = await api.getNode(signal);
      if (fresh.kind === "failed")
        return { kind: "failed", doing: "reading the Node", failure: fresh.failure };
      store.see(fresh.value);
    }
  };

  return {
    pass: async (registrations, pass) => {
      if (unconfirmed.length > 0) {
        const outcome = await confirm(pass);
        if (outcome !== undefined) return outcome;
      }
      let againInMs: number | undefined;
      const present = findDue(registrations, pass);
      for (const memory of forgettable(present)) {
        memory.overdueSince = undefined;
        memory.hindrance = undefined;
      }
      const due = present.filter(({ driverName, taint }) => {
        const memory = memoryOf(driverName, taint.key);
        memory.overdueSince ??= pass.now;
        const wait = waitOf(memory, pass.now);
        memory.hindrance = wait > 0 ? "somebody puts it back again and again" : undefined;
        if (wait > 0) againInMs = earlier(againInMs, wait);
        return wait <= 0;
      });
      if (due.length === 0) return { kind: "settled", againInMs };

      const listed = await pass.listedDrivers();
      if (listed.kind === "failed")
        return { kind: "failed", doing: "reading CSINode", failure: listed.failure };
      const [ready, unlisted] = [true, false].map((is) =>
        due.filter(({ driverName }) => listed.value.includes(driverName) === is),
      ) as [Due[], Due[]];
      for (const { driverName, taint } of unlisted) {
        memoryOf(driverName, taint.key).hindrance = "CSINode does not list the driver";
        if (unlistedPasses === 3)
          log.warn("Startup taint stays: kubelet says that it registered the driver, CSINode lacks it", {
            taint: taintText(taint),
            csiDriverName: driverName,
          });
      }
      unlistedPasses = unlisted.length > 0 ? unlistedPasses + 1 : 0;
      const failed = await remove(ready, pass);
      if (failed !== undefined) {
        const why = failed.kind === "failed" ? failed.failure.message : undefined;
        for (const { driverName, taint } of ready) memoryOf(driverName, taint.key).hindrance = why;
        return failed;
      }
      // What was put back meanwhile is judged anew at once; what waits, for peace or for CSINode, has its time.
      const still = findDue(registrations, pass);
      if (ready.some((removed) => still.some((due) => isSame(due, removed))))
        return { kind: "settled", againInMs: 0 };
      const retryMs = unlisted.length > 0 ? backoffMs(pace.unlisted, unlistedPasses - 1) : undefined;
      return { kind: "settled", againInMs: earlier(againInMs, retryMs) };
    },
    status: (registrations, { store }) =>
      registrations.flatMap(({ driverName }) => {
        if (driverName === undefined) return [];
        return startupTaintsOf(driverName, wanted).map((startupTaint) => {
          const found = store.node ? findTaints(store.node, [startupTaint])[0] : undefined;
          const memory = memoryOf(driverName, startupTaint.key);
          return {
            driverName,
            taint: found ? taintText(found) : startupTaint.key,
            present: found !== undefined,
            overdueSince: found ? memory.overdueSince : undefined,
            hindrance: found ? memory.hindrance : undefined,
            removals: memory.removals,
            lastRemovalMs: memory.lastRemovalMs,
          };
        });
      }),
  };
}
