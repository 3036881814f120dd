import { BACKOFF } from "../backoff";
import type { Logger } from "../logging/logger";
import type { NodeView } from "./api/node";
import type { Outcome } from "./api/node-api";
import { conditionFor, planCondition } from "./condition";
import type { ObservedRegistration } from "./observed-registrations";
import { earlier, type Pass, type PassOutcome } from "./pass";
import { createRewritePace } from "./rewrite-pace";
import { DRIVER_PLACEHOLDER } from "./startup-taint";

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

const GONE: ObservedRegistration = {
  driverName: undefined,
  state: "gone",
  registeredAt: undefined,
  refusal: undefined,
};

/** States in which nothing is counted against the driver: another registrar has the say. */
const NOT_OURS = ["standby", "stopping", "stopped"];

/** Makes a keeper of one condition, or of one for each driver. */
export function createConditionKeeper(
  { type, delayMs }: ConditionKeeperOptions,
  { log: parentLog, random }: { readonly log: Logger; readonly random?: () => number },
): ConditionKeeper {
  const log = parentLog.named("condition-keeper");
  const isForEach = type.includes(DRIVER_PLACEHOLDER);
  /** By type; since when the driver is not registered. */
  const missingSince = new Map<string, number>();
  const writes = new Map<string, number>();
  const pace = createRewritePace(BACKOFF.conditionFight, random);
  /** The drivers that were registered here, and that no other registrar has taken over since. */
  const ours = new Set<string>();

  const remember = (registrations: readonly ObservedRegistration[]) => {
    for (const { driverName, state } of registrations) {
      if (driverName === undefined) continue;
      if (state === "registered") ours.add(driverName);
      if (state === "standby") ours.delete(driverName);
    }
  };

  /** Whom each condition is about. Where there is one for all, that is the only driver. */
  const subjects = (registrations: readonly ObservedRegistration[]) => {
    if (!isForEach)
      return registrations.slice(0, 1).map((registration) => ({
        type,
        driverName: registration.driverName,
        registration,
      }));
    const byName = new Map([...ours].map((driverName) => [driverName, GONE]));
    for (const registration of registrations) {
      const { driverName } = registration;
      if (driverName === undefined) continue;
      const known = byName.get(driverName) ?? GONE;
      // One that ends may be there for a while beside the one that has the name now.
      if (known === GONE || NOT_OURS.includes(known.state)) byName.set(driverName, registration);
    }
    return [...byName].map(([driverName, registration]) => ({
      type: type.replaceAll(DRIVER_PLACEHOLDER, driverName),
      driverName,
      registration,
    }));
  };

  type Subject = ReturnType<typeof subjects>[number];

  /** Whether CSINode lists the driver; not looked up for what the Node says already, or may not be written yet. */
  const isListed = async (subject: Subject, node: NodeView, pass: Pass): Promise<Outcome<boolean>> => {
    const { registration, driverName } = subject;
    if (registration.state !== "registered" || driverName === undefined)
      return { kind: "done", value: false };
    const wanted = conditionFor(subject.type, { registration, driverName, listed: true });
    if (wanted === undefined || planCondition(node, wanted, new Date(pass.now)) === undefined)
      return { kind: "done", value: true };
    if (pace.waitMs({ ...wanted, uid: node.uid }, pass.now) > 0) return { kind: "done", value: true };
    const drivers = await pass.listedDrivers();
    return drivers.kind === "failed" ? drivers : { kind: "done", value: drivers.value.includes(driverName) };
  };

  const passFor = async (subject: Subject, pass: Pass): Promise<PassOutcome> => {
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
    const written = { ...wanted, uid: node.uid };
    const waitMs = pace.waitMs(written, pass.now);
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
    if (pace.wrote(written, pass.now))
      log.warn("Node condition is changed by somebody else again and again, writing it less often", {
        ...facts,
        check: "which other registrar of this node keeps the same condition for this driver?",
      });
    return { kind: "settled", againInMs: lookAgainMs };
  };

  return {
    pass: async (registrations, pass) => {
      let againInMs: number | undefined;
      let failed: PassOutcome | undefined;
      remember(registrations);
      for (const subject of subjects(registrations)) {
        const outcome = await passFor(subject, pass);
        if (outcome.kind === "failed") failed ??= outcome;
        else againInMs = earlier(againInMs, outcome.againInMs);
      }
      return failed ?? { kind: "settled", againInMs };
    },
    status: (registrations, { store }) =>
      subjects(registrations).map(({ type: ofDriver, driverName }) => {
        const current = store.node?.conditions.find((condition) => condition.type === ofDriver);
        return {
          driverName,
          type: ofDriver,
          status: current?.status,
          reason: current?.reason,
          writes: writes.get(ofDriver) ?? 0,
        };
      }),
  };
}
