import { invalidOption } from "../base/errors";
import { show } from "../base/refuse-option";
import type { LoggerOption } from "../logging/logger-option";
import { readOptions } from "../options/read-options";
import { type ResolvedStartOptions, START_OPTIONS } from "../options/start-options";
import type { ObservedRegistrations } from "./observed-registrations";
import { type NodeReadinessOptions, resolveNodeReadinessOptions } from "./options";
import { type NodeReadiness, runNodeReadiness } from "./run-node-readiness";

/**
 * Removes startup taints from the node when kubelet has registered their drivers, and keeps a condition in the Node's
 * status, until `close()`. It registers a driver anew if CSINode lacks it although kubelet has registered it; no failure
 * of the API server affects the registrations otherwise. Throws INVALID_OPTION.
 */
export function startNodeReadiness(
  registrations: ObservedRegistrations,
  options: NodeReadinessOptions,
  others: { readonly logger?: LoggerOption | undefined } = {},
): NodeReadiness {
  const { all, subscribe } = Object(registrations) as Partial<ObservedRegistrations>;
  if (typeof all !== "function" || typeof subscribe !== "function")
    throw invalidOption(
      `startNodeReadiness takes what observeRegistrations() gives, not ${show(registrations)}; ` +
        "observeRegistrations(only(registration)) is that of one registration",
    );
  const resolved = resolveNodeReadinessOptions(options, registrations.scope === "node-wide");
  const { logger } = START_OPTIONS;
  const read = readOptions<Pick<ResolvedStartOptions, "logger">>("startNodeReadiness", others, { logger });
  return runNodeReadiness(registrations, resolved, { log: read.logger });
}
