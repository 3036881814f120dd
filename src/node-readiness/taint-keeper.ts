import { backoffMs } from "../base/backoff";
import type { Logger } from "../logging/logger";
import type { NodeView, Taint } from "./node";
import type { ObservedRegistration } from "./observed-registrations";
import { PACE } from "./pace";
import { earlier, failed, type Keeper, type Pass, type PassOutcome, settled } from "./pass";
import { createRewritePace } from "./rewrite-pace";
import { findTaints, planRemoval, type StartupTaint, startupTaintsOf, taintText } from "./startup-taint";

export interface TaintStatus {
  readonly driverName: string;
  /** As kubectl writes it; `KEY` while it is not on the Node. */
  readonly taint: string;
  readonly present: boolean;
  /** Since when the taint is on although kubelet has registered the driver; milliseconds since the epoch. */
  readonly overdueSince: number | undefined;
  /** Why an overdue taint is still on. */
  readonly hindrance: string | undefined;
  readonly removals: number;
  /** From kubelet's registration status until the API server confirmed the removal. */
  readonly lastRemovalMs: number | undefined;
}

/** After so many conflicts in a row, each answered with a fresh read, there is a pause. */
const TRIES_AT_ONCE = 5;
/** Above this number, those of drivers that left the node are dropped. */
const MAX_MEMORIES = 256;

interface Due {
  readonly driverName: string;
  readonly registeredAt: number;
  readonly taint: Taint;
}

interface Memory {
  removals: number;
  lastRemovalMs: number | undefined;
  /** Undefined while the taint is not on, or kubelet has not registered the driver. */
  overdue: { readonly since: number; hindrance: string | undefined } | undefined;
}

const nameOf = (driverName: string, { key }: Pick<Taint, "key">) => `${driverName}\n${key}`;
const fightOf = ({ driverName, taint }: Due) => `${nameOf(driverName, taint)}\n${taint.effect}`;

export function createTaintKeeper(
  wanted: readonly StartupTaint[],
  parentLog: Logger,
  pace = PACE.taint,
): Keeper<TaintStatus> {
  const log = parentLog.named("taint-keeper");
  const fight = createRewritePace(pace.fight);
  const memories = new Map<string, Memory>();
  let unlistedPasses = 0;

  const memoryOf = ({ driverName, taint }: Due): Memory => {
    const name = nameOf(driverName, taint);
    const memory = memories.get(name) ?? { removals: 0, lastRemovalMs: undefined, overdue: undefined };
    memories.set(name, memory);
    return memory;
  };
  const hinder = (one: Due, now: number, hindrance: string | undefined) => {
    const memory = memoryOf(one);
    memory.overdue = { since: memory.overdue?.since ?? now, hindrance };
  };

  const findDue = (registrations: readonly ObservedRegistration[], node: NodeView): readonly Due[] =>
    registrations.flatMap(({ driverName, state, registeredAt = 0 }) => {
      if (driverName === undefined || state !== "registered") return [];
      const taints = findTaints(node, startupTaintsOf(driverName, wanted));
      return taints.map((taint) => ({ driverName, registeredAt, taint }));
    });

  /** Forgets drivers that left the node, and what hindered the removal of taints that are off. */
  const tidy = (registrations: readonly ObservedRegistration[], due: readonly Due[]) => {
    const known = registrations.map(({ driverName }) => driverName);
    const present = due.map(({ driverName, taint }) => nameOf(driverName, taint));
    for (const [name, memory] of memories) {
      if (memories.size > MAX_MEMORIES && !known.includes(name.split("\n")[0])) memories.delete(name);
      if (!present.includes(name)) memory.overdue = undefined;
    }
  };

  /** Records a patch. The Node in the API server's answer may have the taint again. */
  const note = (removed: readonly Due[], node: NodeView) => {
    const now = Date.now();
    for (const one of removed) {
      const { driverName, registeredAt, taint } = one;
      const facts = { taint: taintText(taint), csiDriverName: driverName };
      const isFight = fight.wrote(fightOf(one), node.uid, now);
      const isGone = findTaints(node, [taint]).length === 0;
      if (isFight || !isGone) log.warn("Startup taint was removed, and somebody put it back", facts);
      if (!isGone) continue;
      const memory = memoryOf(one);
      memory.removals += 1;
      memory.lastRemovalMs = now - registeredAt;
      memory.overdue = undefined;
      log.info("Startup taint removed", { ...facts, afterRegistration: `${memory.lastRemovalMs / 1000}s` });
    }
  };

  const remove = async (due: readonly Due[], { store, api, signal }: Pass): Promise<PassOutcome> => {
    const taints = due.map(({ taint }) => taint);
    for (let attempt = 1; ; attempt += 1) {
      const patch = store.node && planRemoval(store.node, taints);
      if (patch === undefined) return settled();
      const patched = await api.patchNode(patch, signal);
      if (patched.kind === "done") {
        note(due, patched.value);
        store.see(patched.value);
        return settled();
      }
      if (patched.failure.kind !== "conflict" || attempt >= TRIES_AT_ONCE)
        return failed("removing startup taints", patched);
      const fresh = await api.getNode(signal);
      if (fresh.kind === "failed") return failed("reading the Node", fresh);
      store.see(fresh.value);
    }
  };

  return {
    pass: async (registrations, pass) => {
      const { now } = pass;
      const { node } = pass.store;
      const present = node === undefined ? [] : findDue(registrations, node);
      tidy(registrations, present);
      let againInMs: number | undefined;
      const due = present.filter((one) => {
        const waitMs = fight.waitMs(fightOf(one), node?.uid ?? "", now);
        hinder(one, now, waitMs > 0 ? "another client adds it again and again" : undefined);
        if (waitMs > 0) againInMs = earlier(againInMs, waitMs);
        return waitMs <= 0;
      });
      if (due.length === 0) return settled(againInMs);

      const listed = await pass.listedDrivers();
      if (listed.kind === "failed") return failed("reading CSINode", listed);
      const ready = due.filter(({ driverName }) => listed.value.includes(driverName));
      const unlisted = due.filter((one) => !ready.includes(one));
      for (const one of unlisted) {
        hinder(one, now, "CSINode does not list the driver");
        if (unlistedPasses === 3)
          log.warn("Startup taint stays: kubelet says that it registered the driver, CSINode lacks it", {
            taint: taintText(one.taint),
            csiDriverName: one.driverName,
          });
      }
      unlistedPasses = unlisted.length > 0 ? unlistedPasses + 1 : 0;
      const removed = await remove(ready, pass);
      if (removed.kind === "failed") {
        for (const one of ready) hinder(one, now, removed.failure.message);
        return removed;
      }
      const retryMs = unlisted.length > 0 ? backoffMs(pace.unlisted, unlistedPasses - 1) : undefined;
      return settled(earlier(againInMs, retryMs));
    },
    status: (registrations, { node }) =>
      registrations.flatMap(({ driverName }) => {
        if (driverName === undefined) return [];
        return startupTaintsOf(driverName, wanted).map((startupTaint) => {
          const found = node && findTaints(node, [startupTaint])[0];
          const memory = memories.get(nameOf(driverName, startupTaint));
          const overdue = found && memory?.overdue;
          return {
            driverName,
            taint: found ? taintText(found) : startupTaint.key,
            present: found !== undefined,
            overdueSince: overdue?.since,
            hindrance: overdue?.hindrance,
            removals: memory?.removals ?? 0,
            lastRemovalMs: memory?.lastRemovalMs,
          };
        });
      }),
  };
}
