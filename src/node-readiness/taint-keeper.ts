import { BACKOFF, type Backoff, backoffMs } from "../base/backoff";
import type { Logger } from "../logging/logger";
import type { NodeView, Taint } from "./api/node";
import type { ObservedRegistration } from "./observed-registrations";
import { earlier, type Pass, type PassOutcome } from "./pass";
import { createRewritePace } from "./rewrite-pace";
import { findTaints, planRemoval, type StartupTaint, startupTaintsOf, taintText } from "./startup-taint";

/** How often to do what others may undo. */
export interface TaintPace {
  /** While CSINode does not list a driver that kubelet says is registered. */
  readonly unlisted: Backoff;
  /** Between removals of a taint that another client adds again and again. */
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
  /** From kubelet's registration status to the moment when the API server answered that it is gone. */
  readonly lastRemovalMs: number | undefined;
}

/** Takes the startup taints off that are due. */
export interface TaintKeeper {
  pass(registrations: readonly ObservedRegistration[], pass: Pass): Promise<PassOutcome>;
  status(registrations: readonly ObservedRegistration[], pass: Pick<Pass, "store">): readonly TaintStatus[];
}

/** Conflicts in a row that are answered at once: each brings the newest state along. */
const TRIES_AT_ONCE = 5;
const PUT_BACK = "Startup taint was removed, and somebody put it back";

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
}

/** Names that drivers may have had before those that are no longer here are forgotten. */
const MAX_MEMORIES = 256;

const nameOf = (driverName: string, { key }: Pick<Taint, "key">) => `${driverName}\n${key}`;
const fightOf = ({ driverName, taint }: Due) => `${nameOf(driverName, taint)}\n${taint.effect}`;

/** Makes a keeper of the startup taints `wanted`, which may have `{driver}` in them. */
export function createTaintKeeper(
  wanted: readonly StartupTaint[],
  { log: parentLog, pace = TAINT_PACE }: { readonly log: Logger; readonly pace?: TaintPace | undefined },
): TaintKeeper {
  const log = parentLog.named("taint-keeper");
  const fight = createRewritePace(pace.fight);
  /** By driver and key. */
  const memories = new Map<string, Memory>();
  let unlistedPasses = 0;

  const memoryOf = (driverName: string, taint: Pick<Taint, "key">): Memory => {
    const name = nameOf(driverName, taint);
    const fresh = { removals: 0, lastRemovalMs: undefined, overdueSince: undefined, hindrance: undefined };
    const memory = memories.get(name) ?? fresh;
    memories.set(name, memory);
    return memory;
  };

  const findDue = (registrations: readonly ObservedRegistration[], node: NodeView): readonly Due[] =>
    registrations.flatMap(({ driverName, state, registeredAt = 0 }) => {
      if (driverName === undefined || state !== "registered") return [];
      const taints = findTaints(node, startupTaintsOf(driverName, wanted));
      return taints.map((taint) => ({ driverName, registeredAt, taint }));
    });

  /** Forgets drivers that are not here, and what was wrong with taints that are not there. */
  const tidy = (registrations: readonly ObservedRegistration[], due: readonly Due[]) => {
    const known = registrations.map(({ driverName }) => driverName);
    const present = due.map(({ driverName, taint }) => nameOf(driverName, taint));
    for (const [name, memory] of memories) {
      if (memories.size > MAX_MEMORIES && !known.includes(name.split("\n")[0])) memories.delete(name);
      if (present.includes(name)) continue;
      memory.overdueSince = undefined;
      memory.hindrance = undefined;
    }
  };

  /** Says of each taint that was patched away whether the Node that the API server answered is without it. */
  const note = (removed: readonly Due[], node: NodeView) => {
    const now = Date.now();
    for (const one of removed) {
      const { driverName, registeredAt, taint } = one;
      const memory = memoryOf(driverName, taint);
      const facts = { taint: taintText(taint), csiDriverName: driverName };
      const isFight = fight.wrote(fightOf(one), node.uid, now);
      const isGone = findTaints(node, [taint]).length === 0;
      if (isFight || !isGone) log.warn(PUT_BACK, facts);
      if (!isGone) continue;
      memory.removals += 1;
      memory.lastRemovalMs = now - registeredAt;
      memory.overdueSince = undefined;
      memory.hindrance = undefined;
      log.info("Startup taint removed", { ...facts, afterRegistration: `${memory.lastRemovalMs / 1000}s` });
    }
  };

  const remove = async (due: readonly Due[], pass: Pass): Promise<PassOutcome | undefined> => {
    const { store, api, signal } = pass;
    const taints = due.map(({ taint }) => taint);
    for (let attempt = 1; ; attempt += 1) {
      const patch = store.node && planRemoval(store.node, taints);
      if (patch === undefined) return undefined;
      const patched = await api.patchNode(patch, signal);
      if (patched.kind === "done") {
        note(due, patched.value);
        store.see(patched.value);
        return undefined;
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
      const { node } = pass.store;
      const present = node === undefined ? [] : findDue(registrations, node);
      tidy(registrations, present);
      let againInMs: number | undefined;
      const due = present.filter((one) => {
        const memory = memoryOf(one.driverName, one.taint);
        memory.overdueSince ??= pass.now;
        const waitMs = fight.waitMs(fightOf(one), node?.uid ?? "", pass.now);
        memory.hindrance = waitMs > 0 ? "somebody puts it back again and again" : undefined;
        if (waitMs > 0) againInMs = earlier(againInMs, waitMs);
        return waitMs <= 0;
      });
      if (due.length === 0) return { kind: "settled", againInMs };

      const listed = await pass.listedDrivers();
      if (listed.kind === "failed")
        return { kind: "failed", doing: "reading CSINode", failure: listed.failure };
      const ready = due.filter(({ driverName }) => listed.value.includes(driverName));
      const unlisted = due.filter((one) => !ready.includes(one));
      for (const { driverName, taint } of unlisted) {
        memoryOf(driverName, taint).hindrance = "CSINode does not list the driver";
        if (unlistedPasses === 3)
          log.warn("Startup taint stays: kubelet says that it registered the driver, CSINode lacks it", {
            taint: taintText(taint),
            csiDriverName: driverName,
          });
      }
      unlistedPasses = unlisted.length > 0 ? unlistedPasses + 1 : 0;
      const failed = await remove(ready, pass);
      if (failed?.kind === "failed") {
        for (const { driverName, taint } of ready)
          memoryOf(driverName, taint).hindrance = failed.failure.message;
        return failed;
      }
      const retryMs = unlisted.length > 0 ? backoffMs(pace.unlisted, unlistedPasses - 1) : undefined;
      return { kind: "settled", againInMs: earlier(againInMs, retryMs) };
    },
    status: (registrations, { store }) =>
      registrations.flatMap(({ driverName }) => {
        if (driverName === undefined) return [];
        return startupTaintsOf(driverName, wanted).map((startupTaint) => {
          const found = store.node ? findTaints(store.node, [startupTaint])[0] : undefined;
          const memory = memories.get(nameOf(driverName, startupTaint));
          return {
            driverName,
            taint: found ? taintText(found) : startupTaint.key,
            present: found !== undefined,
            overdueSince: found ? memory?.overdueSince : undefined,
            hindrance: found ? memory?.hindrance : undefined,
            removals: memory?.removals ?? 0,
            lastRemovalMs: memory?.lastRemovalMs,
          };
        });
      }),
  };
}
