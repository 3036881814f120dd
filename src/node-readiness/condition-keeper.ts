import { BACKOFF } from "../backoff";
import type { Logger } from "../logging/logger";
import type { NodeView } from "./api/node";
import type { Outcome } from "./api/node-api";
import {
  conditionFor,
  findForgettable,
  MAX_CONDITIONS,
  planCondition,
  planForgetting,
  type WantedCondition,
} from "./condition";
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

  /** Whether CSINode lists the driver; not looked up for what the Node says already, or may not be written yet. */
  const isListed = async (
    subject: ConditionSubject,
    node: NodeView,
    pass: Pass,
  ): Promise<Outcome<boolean>> => {
    const { registration, driverName } = subject;
    if (registration.state !== "registered" || driverName === undefined)
      return { kind: "done", value: false };
    const wanted = conditionFor(subject.type, { registration, driverName, listed: true });
    if (wanted === undefined || planCondition(node, wanted, new Date(pass.now)) === undefined)
      return { kind: "done", value: true };
    if (pace.waitMs(wanted.type, textOf(wanted, node), pass.now) > 0) return { kind: "done", value: true };
    const drivers = await pass.listedDrivers();
    return drivers.kind === "failed" ? drivers : { kind: "done", value: drivers.value.includes(driverName) };
  };

  const passFor = async (subject: ConditionSubject, pass: Pass): Promise<PassOutcome> => {
    const { registration, driverName } = subject;
    const { node } = pass.store;
    if (node === undefined) return { kind: "settled" };
    const listing = await isListed(subject, node, pass);
    if (listing.kind === "failed")
      return { kind: "failed", doing: "reading CSINode", failure: listing.failure };
    const listed = listing.value;
    const lookAgainMs = registration.state === "registered" && !listed ? LOOK_AGAIN_MS : undefined;

    if (listed || NOT_OURS.includes(registration.state)) missingSince.delete(subject.type);
    else if (!missingSince.has(subject.type)) missingSince.set(subject.type, pass.now);
    const leftMs = (missingSince.get(subject.type) ?? -Infinity) + delayMs - pass.now;
    if (leftMs > 0) return { kind: "settled", againInMs: earlier(leftMs, lookAgainMs) };

    const wanted = conditionFor(subject.type, { registration, driverName, listed });
    const patch = wanted && planCondition(node, wanted, new Date(pass.now));
    if (wanted === undefined || patch === undefined) return { kind: "settled", againInMs: lookAgainMs };
    const value = textOf(wanted, node);
    const waitMs = pace.waitMs(wanted.type, value, pass.now);
    if (waitMs > 0) return { kind: "settled", againInMs: earlier(waitMs, lookAgainMs) };
    const patched = await pass.api.patchStatus(patch, pass.signal);
    if (patched.kind === "failed")
      return { kind: "failed", doing: "setting the node's condition", failure: patched.failure };
    pass.store.see(patched.value);
    writes.set(subject.type, (writes.get(subject.type) ?? 0) + 1);
    const { status, reason } = wanted;
    const facts = {
      condition: subject.type,
      status,
      reason,
      ...(driverName === undefined ? {} : { csiDriverName: driverName }),
    };
    log.info("Node condition set", facts);
    if (pace.wrote(wanted.type, value, pass.now))
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

const textOf = ({ status, reason }: WantedCondition, { uid }: NodeView) => `${uid} ${status} ${reason}`;
