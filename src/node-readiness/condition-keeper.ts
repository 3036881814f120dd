import { BACKOFF } from "../base/backoff";
import type { Logger } from "../logging/logger";
import { conditionFor, findForgettable, MAX_CONDITIONS, planCondition, planForgetting } from "./condition";
import { type ConditionSubject, createConditionSubjects, NOT_OURS } from "./condition-subjects";
import { DRIVER_PLACEHOLDER } from "./driver-template";
import type { ObservedRegistration } from "./observed-registrations";
import { earlier, type Pass, type PassOutcome } from "./pass";
import { createRewritePace } from "./rewrite-pace";

/** What there is to tell of one condition. */
export interface ConditionStatus {
  readonly driverName: string | undefined;
  readonly type: string;
  /** What the Node says; undefined where it says nothing. */
  readonly status: string | undefined;
  readonly reason: string | undefined;
  readonly writes: number;
}

/** Keeps the conditions as they should be. */
export interface ConditionKeeper {
  pass(registrations: readonly ObservedRegistration[], pass: Pass): Promise<PassOutcome>;
  status(
    registrations: readonly ObservedRegistration[],
    pass: Pick<Pass, "store">,
  ): readonly ConditionStatus[];
}

export interface ConditionKeeperOptions {
  /** May have `{driver}` in it. */
  readonly type: string;
  /** A driver must be unregistered for so long before the condition says so. Milliseconds. */
  readonly delayMs: number;
}

/** CSINode is not watched: while it lacks a driver that kubelet says is registered, it is read so often. */
const LOOK_AGAIN_MS = 10_000;

/** Makes a keeper of one condition, or of one for each driver. */
export function createConditionKeeper(
  { type: template, delayMs }: ConditionKeeperOptions,
  { log: parentLog, random }: { readonly log: Logger; readonly random?: (() => number) | undefined },
): ConditionKeeper {
  const log = parentLog.named("condition-keeper");
  const subjects = createConditionSubjects(template);
  /** By type; since when the driver is not registered. */
  const missingSince = new Map<string, number>();
  const writes = new Map<string, number>();
  const pace = createRewritePace(BACKOFF.conditionFight, { ...(random && { random }) });
  let isFullTold = false;

  const passFor = async (subject: ConditionSubject, pass: Pass): Promise<PassOutcome> => {
    const { registration, driverName, type } = subject;
    const { store, now } = pass;
    const { node } = store;
    if (node === undefined) return { kind: "settled" };
    /** What to write, and how long to leave it alone; undefined if the Node has it already. */
    const plan = (listed: boolean) => {
      const wanted = conditionFor(type, { registration, driverName, listed });
      const patch = wanted && planCondition(node, wanted, new Date(now));
      if (wanted === undefined || patch === undefined) return undefined;
      const value = `${node.uid} ${wanted.status} ${wanted.reason}`;
      return { wanted, patch, value, waitMs: pace.waitMs(type, value, now) };
    };
    let listed = registration.state === "registered" && driverName !== undefined;
    // CSINode is read only for what would be written now.
    if (listed && plan(true)?.waitMs === 0) {
      const drivers = await pass.listedDrivers();
      if (drivers.kind === "failed")
        return { kind: "failed", doing: "reading CSINode", failure: drivers.failure };
      listed = drivers.value.some((name) => name === driverName);
    }
    const lookAgainMs = registration.state === "registered" && !listed ? LOOK_AGAIN_MS : undefined;

    if (listed || NOT_OURS.includes(registration.state)) missingSince.delete(type);
    else if (!missingSince.has(type)) missingSince.set(type, now);
    const leftMs = (missingSince.get(type) ?? -Infinity) + delayMs - now;
    if (leftMs > 0) return { kind: "settled", againInMs: earlier(leftMs, lookAgainMs) };

    const planned = plan(listed);
    if (planned === undefined) return { kind: "settled", againInMs: lookAgainMs };
    const { wanted, patch, value, waitMs } = planned;
    if (waitMs > 0) return { kind: "settled", againInMs: earlier(waitMs, lookAgainMs) };
    const patched = await pass.api.patchStatus(patch, pass.signal);
    if (patched.kind === "failed")
      return { kind: "failed", doing: "setting the node's condition", failure: patched.failure };
    store.see(patched.value);
    writes.set(type, (writes.get(type) ?? 0) + 1);
    const { status, reason } = wanted;
    const facts = {
      condition: type,
      status,
      reason,
      ...(driverName === undefined ? {} : { csiDriverName: driverName }),
    };
    log.info("Node condition set", facts);
    if (pace.wrote(type, value, now))
      log.warn("Node condition is changed by somebody else again and again, writing it less often", {
        ...facts,
        check: "which other registrar of this node keeps the same condition for this driver?",
      });
    return { kind: "settled", againInMs: lookAgainMs };
  };

  /** Removes the conditions of drivers that are gone for good. */
  const forget = async (live: readonly string[], pass: Pass): Promise<PassOutcome> => {
    const { node } = pass.store;
    if (node === undefined || !template.includes(DRIVER_PLACEHOLDER)) return { kind: "settled" };
    const { types, nextInMs } = findForgettable(node, template, { live, now: pass.now });
    if (types.length === 0) return { kind: "settled", againInMs: nextInMs };
    const patched = await pass.api.patchStatus(planForgetting(types), pass.signal);
    if (patched.kind === "failed")
      return { kind: "failed", doing: "removing conditions from the node", failure: patched.failure };
    pass.store.see(patched.value);
    subjects.forget(types);
    for (const condition of types)
      log.info("Node condition removed, its driver is gone for good", { condition });
    return { kind: "settled", againInMs: nextInMs };
  };

  return {
    pass: async (registrations, pass) => {
      subjects.remember(registrations, pass.now);
      const all = subjects.list(registrations);
      const types = all.map(({ type }) => type);
      for (const memory of [missingSince, writes])
        for (const type of memory.keys()) if (!types.includes(type)) memory.delete(type);
      if (!isFullTold && all.length === MAX_CONDITIONS)
        log.warn("Node has as many conditions of drivers as it gets, more drivers get none", {
          conditions: all.length,
          check: "which drivers register under ever new names? --allow-drivers keeps them out",
        });
      isFullTold ||= all.length === MAX_CONDITIONS;
      const outcomes: PassOutcome[] = [];
      for (const subject of all) outcomes.push(await passFor(subject, pass));
      const live = all.flatMap(({ type, registration }) => (registration.state === "gone" ? [] : type));
      outcomes.push(await forget(live, pass));
      return (
        outcomes.find(({ kind }) => kind === "failed") ?? {
          kind: "settled",
          againInMs: outcomes
            .map((outcome) => (outcome.kind === "settled" ? outcome.againInMs : undefined))
            .reduce(earlier, undefined),
        }
      );
    },
    status: (registrations, { store }) =>
      subjects.list(registrations).map(({ type, driverName }) => {
        const current = store.node?.conditions.find((condition) => condition.type === type);
        return {
          driverName,
          type,
          status: current?.status,
          reason: current?.reason,
          writes: writes.get(type) ?? 0,
        };
      }),
  };
}
