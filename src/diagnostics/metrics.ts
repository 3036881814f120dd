import type { Registry } from "prom-client";
import { grpcCodeName } from "../grpc/status";
import { boundText, escapeJson } from "../logging/escape";
import type { DriverCall } from "../registrar/model/events";
import type { Registrations } from "../registrar/registrations";
import { counted } from "./health-checks";
import { METRICS, type ProcessFacts, UNKNOWN_DRIVER } from "./metric-table";
import { nodeReadinessMetrics, type ViewNodeReadiness } from "./node-readiness";
import type { Route } from "./server";

/** As csi-lib-utils' sidecars have them (metrics.go), so that their dashboards and alerts fit. */
const CALL_BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
/** Calls that are kept for the first scrape; a driver that fails for an hour reaches it, and then the library loads. */
const MAX_UNSCRAPED_CALLS = 500;

/** Each name costs memory for good. More than a node has drivers: one that takes name after name gets no more. */
const MAX_DRIVER_NAMES = 1_000;

interface Metrics {
  readonly registry: Registry;
  observe(call: DriverCall, driverName: string): void;
}

/**
 * The metrics path. prom-client writes the text; it weighs some megabytes, so it is loaded at the first scrape, and
 * the calls to the driver seen until then are handed to it.
 */
export function createMetricsRoute(
  registrations: Registrations,
  facts: ProcessFacts,
  nodeReadiness?: ViewNodeReadiness,
): Route {
  const unscraped: (readonly [DriverCall, string])[] = [];
  let loading: Promise<Metrics> | undefined;
  const load = () => {
    loading ??= loadMetrics(registrations, facts, nodeReadiness).then((metrics) => {
      for (const [call, driverName] of unscraped.splice(0)) metrics.observe(call, driverName);
      return metrics;
    });
    return loading;
  };
  registrations.subscribe((event) => {
    const { registration } = event;
    if (event.kind !== "driver-call") return;
    const driverName = registration.status().identity?.name ?? UNKNOWN_DRIVER;
    if (loading === undefined) unscraped.push([event.call, driverName]);
    else void loading.then((metrics) => metrics.observe(event.call, driverName));
    if (unscraped.length >= MAX_UNSCRAPED_CALLS) void load();
  });
  return async () => {
    const { registry } = await load();
    const body = await registry.metrics();
    return { status: 200, headers: { "content-type": registry.contentType }, body };
  };
}

/** Drivers choose names and versions: prom-client escapes quotes and line feeds, and no terminal's escapes. */
function printable(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [name, escapeJson(boundText(value))]),
  );
}

async function loadMetrics(
  registrations: Registrations,
  facts: ProcessFacts,
  nodeReadiness: ViewNodeReadiness | undefined,
): Promise<Metrics> {
  const { Counter, Gauge, Histogram, Registry } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  for (const { kind, name, help, labelNames = [], samples, readsAll } of [
    ...METRICS,
    ...(nodeReadiness ? nodeReadinessMetrics(nodeReadiness) : []),
  ]) {
    const Metric = kind === "gauge" ? Gauge : Counter;
    new Metric({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        const read = readsAll ? registrations.all : counted(registrations);
        for (const { labels = {}, value } of samples(facts, read)) this.inc(printable(labels), value);
      },
    });
  }
  const operations = new Histogram({
    name: "csi_sidecar_operations_seconds",
    help: "[ALPHA] Container Storage Interface operation duration with gRPC error code status total",
    labelNames: ["driver_name", "method_name", "grpc_status_code"],
    buckets: CALL_BUCKETS_SECONDS,
    registers,
  });
  const names = new Set<string>();
  return {
    registry,
    observe: ({ method, code, durationMs }, driverName) => {
      if (names.size < MAX_DRIVER_NAMES) names.add(driverName);
      const name = names.has(driverName) ? driverName : UNKNOWN_DRIVER;
      const labels = { driver_name: name, method_name: method, grpc_status_code: grpcCodeName(code) };
      operations.observe(printable(labels), durationMs / 1000);
    },
  };
}
