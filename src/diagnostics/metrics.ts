import { messageOf } from "../base/errors";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import type { DriverCall } from "../registrar/model/events";
import type { Registrations } from "../registrar/registration/registrations";
import { METRICS, type Metrics, metricRows, type ProcessFacts, UNKNOWN_DRIVER } from "./metric-table";
import { defineMetrics } from "./prometheus";
import type { Route } from "./server";

/** The most calls that are kept for the next scrape. At this number prom-client is loaded without one. */
const MAX_UNCOUNTED_CALLS = 500;

/**
 * The metrics path. prom-client takes megabytes, so it is loaded at the first scrape; calls are kept for it. If it cannot be
 * loaded, as without file descriptors, the next scrape tries again.
 */
export function createMetricsRoute(
  registrations: Registrations,
  facts: ProcessFacts,
  log: Logger,
  more: Metrics = {},
): Route {
  const warn = createPacedWarning(log, "Cannot load the metrics, calls are not counted");
  const uncounted: (readonly [DriverCall, string])[] = [];
  const load = async () => {
    const client = await import("prom-client");
    const registry = new client.Registry();
    const rows = METRICS.concat(metricRows(more));
    return { registry, observe: defineMetrics(client, [registry], rows, registrations, facts) };
  };
  let loading: ReturnType<typeof load> | undefined;
  const countCalls = async () => {
    loading ??= load();
    try {
      const { registry, observe } = await loading;
      for (const [call, driverName] of uncounted.splice(0)) observe(call, driverName);
      return registry;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  registrations.subscribe(({ registration, ...event }) => {
    if (event.kind !== "driver-call") return;
    uncounted.push([event.call, registration.status().identity?.name ?? UNKNOWN_DRIVER]);
    if (uncounted.length < MAX_UNCOUNTED_CALLS) return;
    countCalls().catch((error) => warn({ err: messageOf(error), calls: uncounted.splice(0).length }));
  });
  return async () => {
    const registry = await countCalls();
    const body = await registry.metrics();
    return { status: 200, headers: { "content-type": registry.contentType }, body };
  };
}
