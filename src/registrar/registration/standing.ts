import type { StateName } from "../model/state";
import { type DriverStatus, reasonOf } from "../model/status";
import type { Registration } from "./registration";
import type { Registrations } from "./registrations";

// How registrations stand, for probes, pages and metrics.

/** The driver's name, or where its socket is. */
export function shownName({ status, csiAddress }: Registration): string {
  return status().identity?.name ?? csiAddress ?? "";
}

export function stateText(now: DriverStatus): string {
  const since = now.history.at(-1)?.atMs;
  const sinceText = since === undefined ? "" : ` since ${new Date(since).toISOString()}`;
  const reason = reasonOf(now);
  return `state is ${now.state}${sinceText}${reason === undefined ? "" : `: ${reason}`}`;
}

/**
 * The registrations that count: a sidecar's own. Node-wide, those that the registrar has published or failed to publish, or will
 * after a wait: not a socket without a driver, a name that is not accepted, or a driver that another registrar serves.
 */
export function registrationsThatCount({
  scope,
  all,
}: Pick<Registrations, "scope" | "all">): readonly Registration[] {
  if (scope === "one-driver") return all;
  const others: readonly StateName[] = ["waiting", "standby", "stopping", "stopped"];
  return all.filter((one) => {
    const status = one.status();
    return !others.includes(status.state) || isHeld(status);
  });
}

/** Whether the registrar waits before it asks a driver that may be in order now. */
export const isHeld = ({ identity, trouble }: DriverStatus): boolean =>
  trouble?.kind === "failed"
    ? identity !== undefined // It had another name, or was registered.
    : trouble?.kind === "renamed" || trouble?.kind === "no-descriptors";
