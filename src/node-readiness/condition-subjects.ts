import { GONE_FOR_GOOD_MS, MAX_CONDITIONS } from "./condition";
import { DRIVER_PLACEHOLDER, fillIn } from "./driver-template";
import type { ObservedRegistration } from "./observed-registrations";

/** One condition, and the registration that it is about. */
export interface ConditionSubject {
  readonly type: string;
  /** Undefined before the driver told it. */
  readonly driverName: string | undefined;
  readonly registration: ObservedRegistration;
}

/** Knows which conditions there are to keep. */
export interface ConditionSubjects {
  /** Takes note of which drivers are registered here, and which are gone. */
  remember(registrations: readonly ObservedRegistration[], now: number): void;
  list(registrations: readonly ObservedRegistration[]): readonly ConditionSubject[];
  /** Drops drivers that are gone, by the types of their conditions. */
  forget(types: readonly string[]): void;
}

/** States in which another registrar has the say. */
export const NOT_OURS: readonly ObservedRegistration["state"][] = ["standby", "stopping", "stopped"];

const GONE: ObservedRegistration = {
  driverName: undefined,
  state: "gone",
  registeredAt: undefined,
  refusal: undefined,
};

/** Makes the list of one condition, or with `{driver}` in `template` of one for each driver. */
export function createConditionSubjects(template: string): ConditionSubjects {
  const isForEach = template.includes(DRIVER_PLACEHOLDER);
  /** The drivers that were registered here and not by another registrar since, with when they were last seen here. */
  const ours = new Map<string, number>();

  return {
    remember: (registrations, now) => {
      for (const { driverName, state } of registrations) {
        if (driverName === undefined) continue;
        if (state === "registered" || ours.has(driverName)) ours.set(driverName, now);
        if (state === "standby") ours.delete(driverName);
      }
      for (const [driverName, seenAt] of ours) {
        const isOver = now - seenAt >= GONE_FOR_GOOD_MS;
        if (isOver || (seenAt < now && ours.size > MAX_CONDITIONS)) ours.delete(driverName);
      }
    },
    forget: (types) => {
      for (const driverName of ours.keys())
        if (types.includes(fillIn(template, driverName) ?? "")) ours.delete(driverName);
    },
    list: (registrations) => {
      if (!isForEach)
        return registrations
          .slice(0, 1)
          .map((registration) => ({ type: template, driverName: registration.driverName, registration }));
      const byName = new Map<string, ObservedRegistration>();
      for (const registration of registrations) {
        const { driverName } = registration;
        if (driverName === undefined) continue;
        const known = byName.get(driverName);
        // One that ends may be there for a while beside the one that has the name now.
        if (known === undefined || NOT_OURS.includes(known.state)) byName.set(driverName, registration);
      }
      // The drivers that are here come first: those that are gone have what is left of the room.
      for (const driverName of [...ours.keys()].reverse())
        if (!byName.has(driverName)) byName.set(driverName, GONE);
      return [...byName]
        .flatMap(([driverName, registration]) => {
          const type = fillIn(template, driverName);
          return type === undefined ? [] : [{ type, driverName, registration }];
        })
        .slice(0, MAX_CONDITIONS);
    },
  };
}
