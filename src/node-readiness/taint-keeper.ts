import { BACKOFF, type Backoff, backoffMs } from "../base/backoff";
import type { Logger } from "../logging/logger";
import { ORPHANED } from "./condition";
import { createRewritePace, earliest, type Keeper, type Pass, valueAt } from "./keeper";
import { done, type NodeAnswer, type NodeView, type Taint } from "./node-api";
import type { ObservedRegistration } from "./observed-registrations";
import { findTaints, planRemoval, type StartupTaint, startupTaintsOf, taintText } from "./startup-taint";

/** One startup taint of the Node. */
export interface TaintStatus {
  /** The driver that it waits for. */
  readonly driverName: string;
  /** As kubectl writes it; `KEY` while it is not on the Node. */
  readonly taint: string;
  /** Whether the Node has it. */
  readonly present: boolean;
  /** Since when the taint is on although kubelet has registered the driver; milliseconds since the epoch. */
  readonly overdueSinceMs: number | undefined;
  /** Why an overdue taint is still on. */
  readonly hindrance: string | undefined;
  /** How often this registrar has removed it. */
  readonly removals: number;
  /** From kubelet's registration status until the API server confirmed the removal. */
  readonly lastRemovalMs: number | undefined;
}

export const TAINT_PACE = {
  /** While CSINode does not list a driver that kubelet says is registered. */
  unlisted: BACKOFF.unlistedDriver as Backoff,
  fight: BACKOFF.taintFight as Backoff,
};

/** After so many conflicts in a row, each answered with a fresh read, there is a pause. */
const TRIES_AT_ONCE = 5;
const UNLISTED_PASSES = 4;

interface Due {
  readonly driverName: string;
  readonly registeredAtMs: number;
  readonly taint: Taint;
}

/** A taint that is on although kubelet has registered the driver. */
interface Overdue {
  readonly sinceMs: number;
  hindrance?: string;
  unlistedPasses: number;
}

const nameOf = (driverName: string, { key }: Pick<Taint, "key">) => `${driverName}\n${key}`;
const fightOf = ({ driverName, taint }: Due) => `${nameOf(driverName, taint)}\n${taint.effect}`;

export function createTaintKeeper(
  wanted: readonly StartupTaint[],
  parentLog: Logger,
  pace = TAINT_PACE,
): Keeper<TaintStatus> {
  const log = parentLog.named("taint-keeper");
  const fight = createRewritePace(pace.fight);
  const removals = new Map<string, { readonly count: number; readonly lastMs: number }>();
  let overdue = new Map<string, Overdue>();

  const overdueOf = ({ driverName, taint }: Due) =>
    valueAt<Overdue>(overdue, nameOf(driverName, taint), () => ({ sinceMs: Date.now(), unlistedPasses: 0 }));
  const hinder = (one: Due, hindrance: string) => {
    overdueOf(one).hindrance = hindrance;
  };

  /** Forgets the removals of drivers that left the node, and what was overdue and is not any more. */
  const tidy = (registrations: readonly ObservedRegistration[], due: readonly Due[]) => {
    const known = registrations.map(({ driverName }) => driverName);
    for (const name of removals.keys()) if (!known.includes(name.split("\n")[0])) removals.delete(name);
    const still = due.map((one) => [nameOf(one.driverName, one.taint), overdueOf(one)] as const);
    overdue = new Map(still.map(([name, { hindrance: _, ...rest }]) => [name, rest]));
  };

  /** Records a patch. The Node in the API server's answer may have the taint again. */
  const note = (removed: readonly Due[], node: NodeView, now: number) => {
    for (const one of removed) {
      const { driverName, registeredAtMs, taint } = one;
      const facts = { taint: taintText(taint), csiDriverName: driverName };
      const isFight = fight.wrote(fightOf(one), node.uid, now);
      const isGone = findTaints(node, [taint]).length === 0;
      if (isFight || !isGone) log.warn("Another client added the startup taint again", facts);
      if (!isGone) continue;
      const lastMs = Math.max(0, Date.now() - registeredAtMs);
      const name = nameOf(driverName, taint);
      removals.set(name, { count: (removals.get(name)?.count ?? 0) + 1, lastMs });
      log.info("Startup taint removed", { ...facts, afterRegistration: `${lastMs / 1000}s` });
    }
  };

  /** Those that CSINode lists; the others wait, each for itself. */
  const findListed = (due: readonly Due[], { csiNode }: Pass, waits: number[]) =>
    due.filter((one) => {
      const memory = overdueOf(one);
      const isListed = csiNode.listing(one.driverName) === "listed";
      memory.unlistedPasses = isListed ? 0 : memory.unlistedPasses + 1;
      if (isListed) return true;
      hinder(one, csiNode.deletedOwner === undefined ? "CSINode does not list the driver" : ORPHANED);
      waits.push(backoffMs(pace.unlisted, memory.unlistedPasses - 1));
      if (memory.unlistedPasses === UNLISTED_PASSES)
        log.warn("Startup taint stays: kubelet has registered the driver, but CSINode does not list it", {
          ...{ taint: taintText(one.taint), csiDriverName: one.driverName },
        });
      return false;
    });

  return {
    pass: async (registrations, pass) => {
      const { node } = pass.store;
      const present = node === undefined ? [] : findDue(registrations, node, wanted);
      tidy(registrations, present);
      const waits: number[] = [];
      const due = present.filter((one) => {
        const waitMs = fight.waitMs(fightOf(one), node?.uid ?? "", pass.now);
        if (waitMs <= 0) return true;
        hinder(one, "another client keeps adding it");
        waits.push(waitMs);
        return false;
      });
      if (due.length === 0) return done(earliest(...waits));

      const read = await pass.readCsiNode();
      if (read.kind === "failed") return read;
      const listed = findListed(due, pass, waits);
      const removed = await remove(listed, pass, (patched) => note(listed, patched, pass.now));
      if (removed.kind === "done") return done(earliest(...waits));
      for (const one of listed) hinder(one, removed.failure.message);
      return removed;
    },
    status: (registrations, { node }) =>
      registrations.flatMap(({ driverName }) => {
        if (driverName === undefined) return [];
        return startupTaintsOf(driverName, wanted).map((startupTaint) => {
          const found = node && findTaints(node, [startupTaint])[0];
          const name = nameOf(driverName, startupTaint);
          const { sinceMs: overdueSinceMs, hindrance } = (found && overdue.get(name)) ?? {};
          const { count = 0, lastMs: lastRemovalMs } = removals.get(name) ?? {};
          const taint = found ? taintText(found) : startupTaint.key;
          const present = found !== undefined;
          return { driverName, taint, present, overdueSinceMs, hindrance, removals: count, lastRemovalMs };
        });
      }),
  };
}

/** The taints on the Node of drivers that kubelet has registered. */
function findDue(
  registrations: readonly ObservedRegistration[],
  node: NodeView,
  wanted: readonly StartupTaint[],
): readonly Due[] {
  return registrations.flatMap(({ driverName, state, registeredAtMs = 0 }) => {
    if (driverName === undefined || state !== "registered") return [];
    const taints = findTaints(node, startupTaintsOf(driverName, wanted));
    return taints.map((taint) => ({ driverName, registeredAtMs, taint }));
  });
}

async function remove(
  due: readonly Due[],
  { store, api, signal }: Pass,
  onPatched: (node: NodeView) => void,
): Promise<NodeAnswer<undefined>> {
  const taints = due.map(({ taint }) => taint);
  for (let attempt = 1; ; attempt += 1) {
    const patch = store.node && planRemoval(store.node, taints);
    if (patch === undefined) return done(undefined);
    const patched = await api.patchNode(patch, signal);
    if (patched.kind === "done") {
      onPatched(patched.value);
      store.see(patched.value);
      return done(undefined);
    }
    if (patched.failure.kind !== "conflict" || attempt >= TRIES_AT_ONCE) return patched;
    const fresh = await api.getNode(signal);
    if (fresh.kind === "failed") return fresh;
    store.take(fresh.value);
  }
}
