import { messageOf } from "../base/errors";
import { grpcCodeName } from "../grpc/status";
import { boundText, escapeJson } from "../logging/escape";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import type { DriverCall } from "../registrar/model/events";
import type { Registrations } from "../registrar/registration/registrations";
import { registrationsThatCount } from "./health-checks";
import { METRICS, type ProcessFacts, UNKNOWN_DRIVER } from "./metric-table";
import { nodeReadinessMetrics, type ViewNodeReadiness } from "./node-readiness";
import type { Route } from "./server";

/** The buckets of csi-lib-utils (metrics.go), so that dashboards and alerts for other sidecars fit. */
const CALL_BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
/** The most calls that are kept for the next scrape. At this number prom-client is loaded without one. */
const MAX_UNCOUNTED_CALLS = 500;
/** A sidecar's driver that keeps changing its name gets no more of them. */
const MAX_DRIVER_NAMES = 1_000;

/**
 * The metrics path. prom-client takes megabytes, so it is loaded at the first scrape; calls are kept for it. If it cannot be
 * loaded, as without file descriptors, the next scrape tries again.
 */
export function createMetricsRoute(
  registrations: Registrations,
  facts: ProcessFacts,
  log: Logger,
  nodeReadiness?: ViewNodeReadiness,
): Route {
  const warn = createPacedWarning(log.named("metrics"), "Cannot load the metrics, calls are not counted");
  const uncounted: (readonly [DriverCall, string])[] = [];
  let loading: ReturnType<typeof loadMetrics> | undefined;
  const countCalls = async () => {
    loading ??= loadMetrics(registrations, facts, nodeReadiness);
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

/** Escapes and bounds texts of drivers: prom-client escapes quotes and line feeds only. */
const labelled = (names: readonly string[], texts: readonly string[]) =>
  Object.fromEntries(names.map((name, at) => [name, escapeJson(boundText(texts[at] ?? ""))]));

async function loadMetrics(
  registrations: Registrations,
  facts: ProcessFacts,
  nodeReadiness: ViewNodeReadiness | undefined,
) {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  const rows = METRICS.concat(nodeReadiness ? nodeReadinessMetrics(nodeReadiness) : []);
  for (const { name, help, labelNames = [], samples, readsAll } of rows) {
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    new Metric({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        const read = readsAll ? registrations.all : registrationsThatCount(registrations);
        for (const [value, ...texts] of samples(facts, read))
          if (value !== undefined) this.inc(labelled(labelNames, texts), Number(value));
      },
    });
  }
  const labelNames = ["driver_name", "method_name", "grpc_status_code"];
  const operations = new Histogram({
    name: "csi_sidecar_operations_seconds",
    help: "[ALPHA] Container Storage Interface operation duration with gRPC error code status total",
    labelNames,
    buckets: CALL_BUCKETS_SECONDS,
    registers,
    collect() {
      forgetDrivers(drivers, registrations, this);
    },
  });
  const drivers = new Map<string, Map<string, Labels>>();
  return {
    registry,
    observe: ({ method, code, durationMs }: DriverCall, driverName: string): void => {
      const isKnown = drivers.has(driverName) || drivers.size < MAX_DRIVER_NAMES;
      const name = isKnown ? driverName : UNKNOWN_DRIVER;
      const labels = labelled(labelNames, [name, method, grpcCodeName(code)]);
      operations.observe(labels, durationMs / 1000);
      drivers.set(name, (drivers.get(name) ?? new Map()).set(JSON.stringify(labels), labels));
    },
  };
}

type Labels = Readonly<Record<string, string>>;

/** Removes what was counted of a node's drivers that are gone. The driver of a sidecar stays, also while it has no name. */
function forgetDrivers(
  drivers: Map<string, ReadonlyMap<string, Labels>>,
  { scope, all }: Registrations,
  operations: { remove(labels: Labels): void },
): void {
  if (scope === "one-driver") return;
  const here = new Set([UNKNOWN_DRIVER, ...all.map(({ status }) => status().identity?.name)]);
  for (const [name, series] of drivers) {
    if (here.has(name)) continue;
    for (const labels of series.values()) operations.remove(labels);
    drivers.delete(name);
  }
}
