import { BACKOFF } from "../base/backoff";
import type { Logger } from "../logging/logger";
import { type ConditionSubject, conditionFor, MAX_CONDITIONS, planCondition } from "./condition";
import type { Listing } from "./csi-node";
import { DRIVER_PLACEHOLDER, fillIn, patternOf } from "./driver-template";
import { createRewritePace, earliest, type Keeper, type Pass, valueAt } from "./keeper";
import { done, type NodeAnswer, type NodeView } from "./node-api";
import type { ObservedRegistration } from "./observed-registrations";

/** One condition of the Node. */
export interface ConditionStatus {
  /** The driver that it is about; undefined for all of the node. */
  readonly driverName: string | undefined;
  /** The type in the Node. */
  readonly type: string;
  /** As in the Node; undefined if it has no such condition. */
  readonly status: string | undefined;
  /** As in the Node, like `status`. */
  readonly reason: string | undefined;
  /** How often this registrar has written it. */
  readonly writes: number;
}

/** How often to read CSINode while it lacks a driver that kubelet says is registered: it is not watched. */
const LOOK_AGAIN_MS = 10_000;

/** A driver must be unregistered for `delayMs` milliseconds before its condition says so. */
export function createConditionKeeper(
  template: string,
  delayMs: number,
  log: Logger,
  random = Math.random,
): Keeper<ConditionStatus> {
  const subjects = createConditionSubjects(template);
  const missingSince = new Map<string, number>();
  const writes = new Map<string, number>();
  const pace = createRewritePace(BACKOFF.conditionFight, { random });
  const pattern = new RegExp(patternOf(template));
  let isFullLogged = false;

  /** Whether a Node has no room for one more condition. */
  const isFull = ({ conditions }: NodeView, type: string): boolean => {
    const ours = conditions.filter((condition) => pattern.test(condition.type));
    if (ours.length < MAX_CONDITIONS || ours.some((condition) => condition.type === type)) return false;
    if (!isFullLogged)
      log.warn(`Limit of ${MAX_CONDITIONS} driver conditions reached, further drivers get none`, {
        check: "which drivers register under ever new names? --allow-drivers keeps them out",
      });
    isFullLogged = true;
    return true;
  };

  const passFor = async (subject: ConditionSubject, pass: Pass): Promise<NodeAnswer<number | undefined>> => {
    const { registration, driverName, type } = subject;
    const node = pass.node.now;
    const { now } = pass;
    if (node === undefined || isFull(node, type)) return done(undefined);
    const plan = (listing: Listing) => {
      const wanted = conditionFor(subject, listing);
      const patch = wanted && planCondition(node, wanted, new Date());
      if (wanted === undefined || patch === undefined) return undefined;
      const value = `${node.uid} ${wanted.status} ${wanted.reason}`;
      return { wanted, patch, value, waitMs: pace.waitMs(type, value, now) };
    };
    const registered = registration.state === "registered" ? driverName : undefined;
    let listing = registered === undefined ? "absent" : (pass.csiNode.listing(registered) ?? "listed");
    // CSINode is read only for a condition that would be written now.
    if (registered !== undefined && [listing, "listed" as const].some((one) => plan(one)?.waitMs === 0)) {
      const read = await pass.readCsiNode();
      if (read.kind === "failed") return read;
      listing = pass.csiNode.listing(registered) ?? "absent";
    }
    const lookAgainMs = registered !== undefined && listing !== "listed" ? LOOK_AGAIN_MS : undefined;

    const isMissing = listing !== "listed" && !NOT_OURS.includes(registration.state);
    if (!isMissing) missingSince.delete(type);
    const leftMs = isMissing ? valueAt(missingSince, type, () => now) + delayMs - now : 0;
    if (leftMs > 0) return done(earliest(leftMs, lookAgainMs));

    const planned = plan(listing);
    if (planned === undefined || planned.waitMs > 0) return done(earliest(planned?.waitMs, lookAgainMs));
    const { wanted, patch, value } = planned;
    const patched = await pass.node.patchStatus(node.uid, patch, pass.signal);
    if (patched.kind === "failed") return patched;
    writes.set(type, (writes.get(type) ?? 0) + 1);
    const { status, reason } = wanted;
    const facts = { condition: type, status, reason, ...(driverName && { csiDriverName: driverName }) };
    log.info("Node condition set", facts);
    if (pace.wrote(type, value, now))
      log.warn("Another client keeps changing the node condition, writing it less often", {
        ...facts,
        check: "which other registrar of this node keeps the same condition for this driver?",
      });
    return done(lookAgainMs);
  };

  return {
    pass: async (registrations, pass) => {
      const all = subjects.update(registrations);
      const types = all.map(({ type }) => type);
      for (const memory of [missingSince, writes])
        for (const type of memory.keys()) if (!types.includes(type)) memory.delete(type);
      const answers: NodeAnswer<number | undefined>[] = [];
      for (const subject of all) answers.push(await passFor(subject, pass));
      const waits = answers.map((answer) => (answer.kind === "done" ? answer.value : undefined));
      return answers.find(({ kind }) => kind === "failed") ?? done(earliest(...waits));
    },
    status: (registrations, node) =>
      subjects.list(registrations).map(({ type, driverName }) => {
        const { status, reason } = node?.conditions.find((condition) => condition.type === type) ?? {};
        return { driverName, type, status, reason, writes: writes.get(type) ?? 0 };
      }),
  };
}

/** States in which another registrar decides about the condition. */
const NOT_OURS: readonly ObservedRegistration["state"][] = ["standby", "stopping", "stopped"];

function createConditionSubjects(template: string) {
  /** The drivers that were registered here, and not by another registrar since; the one that was seen last is the last. */
  const ours = new Set<string>();

  const list = (registrations: readonly ObservedRegistration[]): readonly ConditionSubject[] => {
    const [first] = registrations;
    if (!template.includes(DRIVER_PLACEHOLDER))
      return first ? [{ type: template, driverName: first.driverName, registration: first }] : [];
    const byName = new Map<string, ConditionSubject["registration"]>();
    for (const registration of registrations) {
      const { driverName } = registration;
      if (driverName === undefined) continue;
      const known = byName.get(driverName);
      // A registration that ends may stay in the list beside its successor with the same name.
      if (known === undefined || NOT_OURS.includes(known.state)) byName.set(driverName, registration);
    }
    // Drivers that left come last: the number of conditions is limited.
    for (const driverName of ours)
      if (!byName.has(driverName)) byName.set(driverName, { state: "gone", kubeletError: undefined });
    return [...byName].flatMap(([driverName, registration]) => {
      const type = fillIn(template, driverName);
      return type === undefined ? [] : { type, driverName, registration };
    });
  };

  return {
    list,
    /** The same, and remembers which drivers are registered here. */
    update: (registrations: readonly ObservedRegistration[]) => {
      for (const { driverName, state } of registrations) {
        if (driverName === undefined) continue;
        const isOurs = ours.delete(driverName) || state === "registered";
        if (isOurs && state !== "standby") ours.add(driverName);
      }
      for (const driverName of ours) if (ours.size > MAX_CONDITIONS) ours.delete(driverName);
      return list(registrations);
    },
  };
}
