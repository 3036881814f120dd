import { type ConditionSubject, GONE_FOR_GOOD_MS, MAX_CONDITIONS } from "./condition";
import { DRIVER_PLACEHOLDER, fillIn } from "./driver-template";
import type { ObservedRegistration } from "./observed-registrations";

/** States in which another registrar decides about the condition. */
export const NOT_OURS: readonly ObservedRegistration["state"][] = ["standby", "stopping", "stopped"];

export function createConditionSubjects(template: string) {
  const isForEach = template.includes(DRIVER_PLACEHOLDER);
  /** When each driver was last seen that was registered here, and not by another registrar since. */
  const ours = new Map<string, number>();

  return {
    /** Records which drivers are registered here, and which left. */
    remember: (registrations: readonly ObservedRegistration[], now: number): void => {
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
    /** Drops drivers that left, by the types of their conditions. */
    forget: (types: readonly string[]): void => {
      for (const driverName of ours.keys())
        if (types.includes(fillIn(template, driverName) ?? "")) ours.delete(driverName);
    },
    list: (registrations: readonly ObservedRegistration[]): readonly ConditionSubject[] => {
      if (!isForEach)
        return registrations
          .slice(0, 1)
          .map((registration) => ({ type: template, driverName: registration.driverName, registration }));
      const byName = new Map<string, ConditionSubject["registration"]>();
      for (const registration of registrations) {
        const { driverName } = registration;
        if (driverName === undefined) continue;
        const known = byName.get(driverName);
        // A registration that ends may stay in the list beside its successor with the same name.
        if (known === undefined || NOT_OURS.includes(known.state)) byName.set(driverName, registration);
      }
      // Drivers that left come last: the number of conditions is limited.
      for (const driverName of [...ours.keys()].reverse())
        if (!byName.has(driverName)) byName.set(driverName, { state: "gone", refusal: undefined });
      return [...byName]
        .flatMap(([driverName, registration]) => {
          const type = fillIn(template, driverName);
          return type === undefined ? [] : [{ type, driverName, registration }];
        })
        .slice(0, MAX_CONDITIONS);
    },
  };
}
