import { PUBLISH_REASONS, STATE_NAMES } from "../registrar/model/state";
import type { DriverStatus } from "../registrar/model/status";
import type { Registrations } from "../registrar/registration/registrations";
import { registrationsThatCount } from "../registrar/registration/standing";
import { countDescriptors, descriptorLimit } from "../unix/descriptors";

export interface ProcessFacts {
  readonly version: string;
  readonly nodeVersion: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** By the monotonic clock. */
  uptimeSeconds(): number;
  usage(): { readonly cpuSeconds: number; readonly residentBytes: number; readonly heapBytes: number };
}

type Value = number | boolean | undefined;

/** A value, of which an undefined one is left out, and those of the labels in their order. */
export type Sample = readonly [value: Value, ...labels: readonly string[]];

/** A metric whose samples are read when Prometheus scrapes. */
export interface Metric {
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly samples: (facts: ProcessFacts, registrations: Registrations) => readonly Sample[];
}

/** Metrics by their names. */
export type Metrics = Readonly<Record<string, Metric>>;

export type MetricRow = ReturnType<typeof metricRows>[number];

/** Counters are the metrics whose names end in `_total`; all others are gauges. */
export const metricRows = (table: Metrics) =>
  Object.entries(table).map(([name, metric]) => ({ name, ...metric }));

/** The driver_name label until the driver answers (csi-lib-utils, metrics.go). */
export const UNKNOWN_DRIVER = "unknown-driver";

/** A stopped process answers no scrape. */
const STATES = STATE_NAMES.filter((name) => name !== "stopped");

/** A metric with samples of each driver, by more labels than its name. */
const ofDrivers = (
  help: string,
  labelNames: readonly string[],
  read: (status: DriverStatus) => readonly Sample[],
): Metric => ({
  help,
  labelNames: ["driver_name", ...labelNames],
  samples: (_facts, registrations) =>
    registrationsThatCount(registrations).flatMap(({ status }) => {
      const now = status();
      const name = now.identity?.name ?? UNKNOWN_DRIVER;
      return read(now).map(([value, ...labels]) => [value, name, ...labels] as const);
    }),
});

const ofDriver = (help: string, read: (status: DriverStatus) => Value): Metric =>
  ofDrivers(help, [], (status) => [[read(status)]]);

const ofTally = (help: string, count: "driverReconnects" | "getInfoCalls" | "takeovers"): Metric =>
  ofDriver(help, ({ counters }) => counters[count]);

const ofTime = (help: string, time: "lastGetInfoAtMs" | "lastStatusAtMs"): Metric =>
  ofDriver(help, ({ counters }) => counters[time] && counters[time] / 1000);

/** Absent while it is not known. */
const ofProcess = (help: string, read: (facts: ProcessFacts) => number): Metric => ({
  help,
  samples: (facts) => {
    const value = read(facts);
    return [[value > 0 && Number.isFinite(value) ? value : undefined]];
  },
});

const ofUsage = (help: string, field: keyof ReturnType<ProcessFacts["usage"]>): Metric =>
  ofProcess(help, ({ usage }) => usage()[field]);

/** Every metric but the histogram of calls. Names and labels are a contract with dashboards: see docs/operations.md. */
export const METRICS = metricRows({
  registrar_registered: ofDriver("1 while the driver is registered", ({ state }) => state === "registered"),
  registrar_state: ofDrivers("1 for the state of the registration", ["state"], ({ state }) =>
    STATES.map((name) => [name === state, name]),
  ),
  registrar_driver_connected: ofDriver("1 while the driver is connected", ({ connected }) => connected),
  registrar_driver_reconnects_total: ofTally("How often the driver came back", "driverReconnects"),
  registrar_last_get_info_timestamp_seconds: ofTime("Unix time of kubelet's last GetInfo", "lastGetInfoAtMs"),
  registrar_last_notice_timestamp_seconds: ofTime("Unix time of kubelet's last status", "lastStatusAtMs"),
  registrar_get_info_calls_total: ofTally("How often kubelet called GetInfo", "getInfoCalls"),
  registrar_notices_total: ofDrivers("Kubelet's statuses by result", ["result"], ({ counters }) => [
    [counters.accepted, "registered"],
    [counters.refused, "refused"],
  ]),
  // Each reason has a counter from the start, so that Prometheus sees its first increase.
  registrar_publications_total: ofDrivers("Publications of the socket", ["reason"], ({ counters }) =>
    PUBLISH_REASONS.map((reason) => [counters.publications[reason] ?? 0, reason]),
  ),
  registrar_takeovers_total: ofTally("Takeovers from a registrar that was gone", "takeovers"),
  registrar_driver_info: ofDrivers("1 with the driver's version", ["vendor_version"], ({ identity }) =>
    identity ? [[1, identity.vendorVersion]] : [],
  ),
  registrar_driver_trouble: {
    help: "1 for a driver's socket that cannot be registered, by reason",
    labelNames: ["csi_address", "reason"],
    samples: (_facts, registrations) =>
      registrations.all.flatMap(({ csiAddress, status }): Sample[] => {
        const { trouble } = status();
        if (trouble === undefined || csiAddress === undefined) return [];
        if (trouble.kind === "not-wanted") return []; // As configured: an alert would never end.
        return [[1, csiAddress, trouble.kind]];
      }),
  },
  registrar_build_info: {
    help: "Version of this registrar and of Node",
    labelNames: ["version", "node_version"],
    samples: ({ version, nodeVersion }) => [[1, version, nodeVersion]],
  },
  process_start_time_seconds: ofProcess("Unix time of the start.", ({ startedAt }) => startedAt / 1000),
  process_open_fds: ofProcess("Number of open file descriptors.", countDescriptors),
  process_max_fds: ofProcess("Maximum number of open file descriptors.", descriptorLimit),
  process_cpu_seconds_total: ofUsage("Total user and system CPU time spent in seconds.", "cpuSeconds"),
  process_resident_memory_bytes: ofUsage("Resident memory size in bytes.", "residentBytes"),
  nodejs_heap_size_used_bytes: ofUsage("Size of the V8 heap in use in bytes.", "heapBytes"),
});
