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
  readonly overdueAtMs: number | undefined;
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
/** CSINode is read so often without the driver before a warning. */
const UNLISTED_READS = 4;

interface Due {
  readonly driverName: string;
  readonly registeredAtMs: number;
  readonly taint: Taint;
}

/** A taint that is on although kubelet has registered the driver. */
interface Overdue {
  readonly overdueAtMs: number;
  hindrance?: string;
}

/** A driver that CSINode did not list: how often it was read, and when it is read again unless kubelet registers the driver. */
interface Unlisted {
  readonly reads: number;
  readonly againAt: number;
  readonly registeredAtMs: number;
}

const nameOf = (driverName: string, { key }: Pick<Taint, "key">) => `${driverName}\n${key}`;
const fightOf = ({ driverName, taint }: Due) => `${nameOf(driverName, taint)}\n${taint.effect}`;

export function createTaintKeeper(
  wanted: readonly StartupTaint[],
  log: Logger,
  pace = TAINT_PACE,
): Keeper<TaintStatus> {
  const fight = createRewritePace(pace.fight);
  const removals = new Map<string, { readonly count: number; readonly lastMs: number }>();
  let overdue = new Map<string, Overdue>();
  const unlisted = new Map<string, Unlisted>();

  const overdueOf = ({ driverName, taint }: Due) =>
    valueAt<Overdue>(overdue, nameOf(driverName, taint), () => ({ overdueAtMs: Date.now() }));
  const hinder = (one: Due, hindrance: string) => {
    overdueOf(one).hindrance = hindrance;
  };

  /** Forgets the removals of drivers that left the node, and what was overdue and is not any more. */
  const tidy = (registrations: readonly ObservedRegistration[], due: readonly Due[]) => {
    const known = registrations.map(({ driverName }) => driverName);
    for (const name of removals.keys()) if (!known.includes(name.split("\n")[0])) removals.delete(name);
    for (const name of unlisted.keys()) if (!known.includes(name)) unlisted.delete(name);
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

  /** How long to wait before CSINode is read for this taint: a change of the Node is no reason to read it sooner. */
  const untilRead = ({ driverName, registeredAtMs }: Due, { csiNode, now }: Pass): number => {
    const before = unlisted.get(driverName);
    const isReason = before?.registeredAtMs !== registeredAtMs || csiNode.listing(driverName) === "listed";
    return isReason ? 0 : Math.max(0, before.againAt - now);
  };

  /** Those that CSINode lists, as it was just read if it was time; the others wait, each driver for itself. */
  const findListed = (due: readonly Due[], pass: Pass, waits: number[]) => {
    const { csiNode, now } = pass;
    const isListed = ({ driverName }: Due) => csiNode.listing(driverName) === "listed";
    const read = due.filter((one) => untilRead(one, pass) === 0);
    for (const [driverName, { registeredAtMs }] of new Map(read.map((one) => [one.driverName, one]))) {
      const reads = (unlisted.get(driverName)?.reads ?? 0) + 1;
      unlisted.set(driverName, { reads, againAt: now + backoffMs(pace.unlisted, reads - 1), registeredAtMs });
    }
    for (const one of due.filter(isListed)) unlisted.delete(one.driverName);
    return due.filter((one) => {
      if (isListed(one)) return true;
      const facts = { taint: taintText(one.taint), csiDriverName: one.driverName };
      if (read.includes(one) && unlisted.get(one.driverName)?.reads === UNLISTED_READS)
        log.warn(
          "Startup taint stays: kubelet has registered the driver, but CSINode does not list it",
          facts,
        );
      hinder(one, csiNode.deletedOwner === undefined ? "CSINode does not list the driver" : ORPHANED);
      waits.push(untilRead(one, pass));
      return false;
    });
  };

  return {
    pass: async (registrations, pass) => {
      const node = pass.node.now;
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
      if (node === undefined || due.length === 0) return done(earliest(...waits));

      if (due.some((one) => untilRead(one, pass) === 0)) {
        const read = await pass.readCsiNode();
        if (read.kind === "failed") return read;
      }
      const listed = findListed(due, pass, waits);
      const removed = await remove(node, listed, pass, (patched) => note(listed, patched, pass.now));
      if (removed.kind === "done") return done(earliest(...waits));
      for (const one of listed) hinder(one, removed.failure.message);
      return removed;
    },
    status: (registrations, node) =>
      registrations.flatMap(({ driverName }) => {
        if (driverName === undefined) return [];
        return startupTaintsOf(driverName, wanted).map((startupTaint) => {
          const found = node && findTaints(node, [startupTaint])[0];
          const name = nameOf(driverName, startupTaint);
          const { overdueAtMs, hindrance } = (found && overdue.get(name)) ?? {};
          const { count = 0, lastMs: lastRemovalMs } = removals.get(name) ?? {};
          const taint = found ? taintText(found) : startupTaint.key;
          const present = found !== undefined;
          return { driverName, taint, present, overdueAtMs, hindrance, removals: count, lastRemovalMs };
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

/** Removes taints from the Node with this UID: another one of its name has a CSINode of its own. */
async function remove(
  { uid }: NodeView,
  due: readonly Due[],
  { node, signal }: Pass,
  onPatched: (node: NodeView) => void,
): Promise<NodeAnswer<undefined>> {
  const taints = due.map(({ taint }) => taint);
  for (let attempt = 1; ; attempt += 1) {
    const current = node.now;
    const patch = current?.uid === uid ? planRemoval(current, taints) : undefined;
    if (patch === undefined) return done(undefined);
    const patched = await node.patch(uid, patch, signal);
    if (patched.kind === "done") {
      onPatched(patched.value);
      return done(undefined);
    }
    if (patched.failure.kind !== "conflict" || attempt >= TRIES_AT_ONCE) return patched;
    const fresh = await node.read(signal);
    if (fresh.kind === "failed") return fresh;
    // The watch will tell of the Node that was made again.
    if (fresh.value.uid !== uid) return done(undefined);
  }
}
