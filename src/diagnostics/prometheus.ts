import type { Registry } from "prom-client";
import { grpcCodeName } from "../grpc/status";
import { boundText, escapeJson } from "../logging/escape";
import type { DriverCall } from "../registrar/model/events";
import type { Registrations } from "../registrar/registration/registrations";
import { type MetricRow, type ProcessFacts, UNKNOWN_DRIVER } from "./metric-table";

/** The buckets of csi-lib-utils (metrics.go), so that dashboards and alerts for other sidecars fit. */
const CALL_BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];
/** A sidecar's driver that keeps changing its name gets no more of them. */
const MAX_DRIVER_NAMES = 1_000;

/** Escapes and bounds texts of drivers: prom-client escapes quotes and line feeds only. */
const labelled = (names: readonly string[], texts: readonly string[]) =>
  Object.fromEntries(names.map((name, at) => [name, escapeJson(boundText(texts[at] ?? ""))]));

/** Defines the metrics of `rows`, and the histogram of the driver's calls: returns what counts one. */
export function defineMetrics(
  { Counter, Gauge, Histogram }: Pick<typeof import("prom-client"), "Counter" | "Gauge" | "Histogram">,
  registers: Registry[],
  rows: readonly MetricRow[],
  registrations: Registrations,
  facts: ProcessFacts,
) {
  for (const { name, help, labelNames = [], samples } of rows) {
    const Metric = name.endsWith("_total") ? Counter : Gauge;
    new Metric({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [value, ...texts] of samples(facts, registrations))
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
  return ({ method, code, durationMs }: DriverCall, driverName: string): void => {
    const isKnown = drivers.has(driverName) || drivers.size < MAX_DRIVER_NAMES;
    const name = isKnown ? driverName : UNKNOWN_DRIVER;
    const labels = labelled(labelNames, [name, method, grpcCodeName(code)]);
    operations.observe(labels, durationMs / 1000);
    drivers.set(name, (drivers.get(name) ?? new Map()).set(JSON.stringify(labels), labels));
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
