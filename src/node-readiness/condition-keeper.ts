import { BACKOFF } from "../base/backoff";
import type { Logger } from "../logging/logger";
import {
  type ConditionSubject,
  conditionFor,
  findForgettable,
  MAX_CONDITIONS,
  planCondition,
} from "./condition";
import { createConditionSubjects, NOT_OURS } from "./condition-subjects";
import { DRIVER_PLACEHOLDER } from "./driver-template";
import { earlier, failed, type Keeper, type Pass, type PassOutcome, settled } from "./pass";
import { createRewritePace } from "./rewrite-pace";

export interface ConditionStatus {
  readonly driverName: string | undefined;
  readonly type: string;
  /** As in the Node; undefined if it has no such condition. */
  readonly status: string | undefined;
  readonly reason: string | undefined;
  readonly writes: number;
}

/** How often to read CSINode while it lacks a driver that kubelet says is registered: it is not watched. */
const LOOK_AGAIN_MS = 10_000;

/** A driver must be unregistered for `delayMs` milliseconds before its condition says so. */
export function createConditionKeeper(
  template: string,
  delayMs: number,
  { log: parentLog, random = Math.random }: { readonly log: Logger; readonly random?: () => number },
): Keeper<ConditionStatus> {
  const log = parentLog.named("condition-keeper");
  const subjects = createConditionSubjects(template);
  /** Since when the driver is not registered, by type. */
  const missingSince = new Map<string, number>();
  const writes = new Map<string, number>();
  const pace = createRewritePace(BACKOFF.conditionFight, { random });
  let isFullLogged = false;

  const passFor = async (subject: ConditionSubject, pass: Pass): Promise<PassOutcome> => {
    const { registration, driverName, type } = subject;
    const { store, now } = pass;
    const { node } = store;
    if (node === undefined) return settled();
    /** What to write, and how long to wait before; undefined if the Node has it already. */
    const plan = (listed: boolean) => {
      const wanted = conditionFor(subject, listed);
      const patch = wanted && planCondition(node, wanted, new Date(now));
      if (wanted === undefined || patch === undefined) return undefined;
      const value = `${node.uid} ${wanted.status} ${wanted.reason}`;
      return { wanted, patch, value, waitMs: pace.waitMs(type, value, now) };
    };
    let listed = registration.state === "registered" && driverName !== undefined;
    // CSINode is read only for a condition that would be written now.
    if (listed && plan(true)?.waitMs === 0) {
      const drivers = await pass.listedDrivers();
      if (drivers.kind === "failed") return failed("reading CSINode", drivers);
      listed = drivers.value.some((name) => name === driverName);
    }
    const lookAgainMs = registration.state === "registered" && !listed ? LOOK_AGAIN_MS : undefined;

    if (listed || NOT_OURS.includes(registration.state)) missingSince.delete(type);
    else if (!missingSince.has(type)) missingSince.set(type, now);
    const leftMs = (missingSince.get(type) ?? -Infinity) + delayMs - now;
    if (leftMs > 0) return settled(earlier(leftMs, lookAgainMs));

    const planned = plan(listed);
    if (planned === undefined) return settled(lookAgainMs);
    const { wanted, patch, value, waitMs } = planned;
    if (waitMs > 0) return settled(earlier(waitMs, lookAgainMs));
    const patched = await pass.api.patchStatus(patch, pass.signal);
    if (patched.kind === "failed") return failed("setting the node's condition", patched);
    store.see(patched.value);
    writes.set(type, (writes.get(type) ?? 0) + 1);
    const { status, reason } = wanted;
    const driver = driverName !== undefined && { csiDriverName: driverName };
    const facts = { condition: type, status, reason, ...driver };
    log.info("Node condition set", facts);
    if (pace.wrote(type, value, now))
      log.warn("Node condition is changed by somebody else again and again, writing it less often", {
        ...facts,
        check: "which other registrar of this node keeps the same condition for this driver?",
      });
    return settled(lookAgainMs);
  };

  const forget = async (live: readonly string[], pass: Pass): Promise<PassOutcome> => {
    const { node } = pass.store;
    if (node === undefined || !template.includes(DRIVER_PLACEHOLDER)) return settled();
    const { types, nextInMs } = findForgettable(node, template, { live, now: pass.now });
    if (types.length === 0) return settled(nextInMs);
    const conditions = types.map((type) => ({ $patch: "delete", type }));
    const patched = await pass.api.patchStatus({ status: { conditions } }, pass.signal);
    if (patched.kind === "failed") return failed("removing conditions from the node", patched);
    pass.store.see(patched.value);
    subjects.forget(types);
    for (const condition of types)
      log.info("Node condition removed, its driver is gone for good", { condition });
    return settled(nextInMs);
  };

  return {
    pass: async (registrations, pass) => {
      subjects.remember(registrations, pass.now);
      const all = subjects.list(registrations);
      const types = all.map(({ type }) => type);
      for (const memory of [missingSince, writes])
        for (const type of memory.keys()) if (!types.includes(type)) memory.delete(type);
      if (!isFullLogged && all.length === MAX_CONDITIONS) {
        isFullLogged = true;
        log.warn("Node has as many conditions of drivers as it gets, more drivers get none", {
          conditions: all.length,
          check: "which drivers register under ever new names? --allow-drivers keeps them out",
        });
      }
      const outcomes: PassOutcome[] = [];
      for (const subject of all) outcomes.push(await passFor(subject, pass));
      const live = all.flatMap(({ type, registration }) => (registration.state === "gone" ? [] : type));
      outcomes.push(await forget(live, pass));
      const againInMs = outcomes
        .map((outcome) => (outcome.kind === "settled" ? outcome.againInMs : undefined))
        .reduce(earlier, undefined);
      return outcomes.find(({ kind }) => kind === "failed") ?? settled(againInMs);
    },
    status: (registrations, { node }) =>
      subjects.list(registrations).map(({ type, driverName }) => {
        const current = node?.conditions.find((condition) => condition.type === type);
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
