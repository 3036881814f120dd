import { type PublishReason, STATE_NAMES } from "../registrar/model/state";
import type { DriverStatus } from "../registrar/model/status";
import type { Registration } from "../registrar/registration/registration";

/** What a process knows of itself; the CLI provides it. */
export interface ProcessFacts {
  readonly version: string;
  readonly nodeVersion: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** By the monotonic clock. */
  uptimeSeconds(): number;
  usage(): { readonly cpuSeconds: number; readonly residentBytes: number; readonly heapBytes: number };
}

/** One value of a metric, read at the moment of a scrape. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric that is read from the registrar's status; there is nothing to keep up to date in between. */
export interface MetricRow {
  readonly kind: "gauge" | "counter";
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly samples: (facts: ProcessFacts, registrations: readonly Registration[]) => readonly Sample[];
  /** Reads those registrations too that do not count: of a whole node, sockets without a driver to register. */
  readonly readsAll?: true;
}

/** The driver_name label before the driver told its name (csi-lib-utils, metrics.go). */
export const UNKNOWN_DRIVER = "unknown-driver";

/** A process that answers a scrape has not stopped. */
const STATES = STATE_NAMES.filter((name) => name !== "stopped");

const driver = ({ identity }: DriverStatus) => ({ driver_name: identity?.name ?? UNKNOWN_DRIVER });
const one = (value: number): readonly Sample[] => [{ value }];
/** What leads to a publication, so that each counter is there from the start and its first increase is seen. */
const PUBLISH_REASONS: readonly PublishReason[] = [
  "driver-named",
  "driver-renamed",
  "driver-restarted",
  "socket-gone",
  "socket-dead",
  "kubelet-silent",
  "retry",
  "peer-gone",
  "reregister",
];
type Labelled = Pick<MetricRow, "labelNames" | "samples">;

/** Samples of every driver by one more label: its values, and what is counted for each. */
const ofDriverBy = (
  label: string,
  read: (status: DriverStatus) => readonly (readonly [labelled: string, value: number])[],
): Labelled => ({
  labelNames: ["driver_name", label],
  samples: (_facts, registrations) =>
    registrations.flatMap(({ status }) => {
      const now = status();
      return read(now).map(([labelled, value]) => ({ labels: { ...driver(now), [label]: labelled }, value }));
    }),
});

/** One sample of every driver; none where there is nothing to tell. */
const ofDriver = (read: (status: DriverStatus) => number | undefined): Labelled => ({
  labelNames: ["driver_name"],
  samples: (_facts, registrations) =>
    registrations.flatMap(({ status }) => {
      const now = status();
      const value = read(now);
      return value === undefined ? [] : [{ labels: driver(now), value }];
    }),
});

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

/** Every metric but the histogram of calls. Names and labels are a promise to dashboards: see docs/operations.md. */
export const METRICS: readonly MetricRow[] = [
  {
    kind: "gauge",
    name: "registrar_registered",
    help: "1 while kubelet's last registration status said that the driver is registered and the registration socket is ours",
    ...ofDriver(({ state }) => (state === "registered" ? 1 : 0)),
  },
  {
    kind: "gauge",
    name: "registrar_state",
    help: "1 for the state that the driver's registration is in",
    ...ofDriverBy("state", (status) => STATES.map((state) => [state, status.state === state ? 1 : 0])),
  },
  {
    kind: "gauge",
    name: "registrar_driver_connected",
    help: "1 while there is a connection to the CSI driver",
    ...ofDriver(({ connected }) => (connected ? 1 : 0)),
  },
  {
    kind: "counter",
    name: "registrar_driver_reconnects_total",
    help: "How often the CSI driver came back after its connection was lost",
    ...ofDriver(({ tally }) => tally.driverReconnects),
  },
  {
    kind: "gauge",
    name: "registrar_last_get_info_timestamp_seconds",
    help: "When kubelet last called GetInfo, as unix time; absent where it never did",
    ...ofDriver(({ tally }) => seconds(tally.lastGetInfoAt)),
  },
  {
    kind: "gauge",
    name: "registrar_last_notice_timestamp_seconds",
    help: "When kubelet last called NotifyRegistrationStatus, as unix time; absent where it never did",
    ...ofDriver(({ tally }) => seconds(tally.lastStatusAt)),
  },
  {
    kind: "counter",
    name: "registrar_get_info_calls_total",
    help: "How often kubelet called GetInfo",
    ...ofDriver(({ tally }) => tally.getInfoCalls),
  },
  {
    kind: "counter",
    name: "registrar_notices_total",
    help: "Kubelet's registration statuses by what they said",
    ...ofDriverBy("result", ({ tally: { accepted, refused } }) => [
      ["registered", accepted],
      ["refused", refused],
    ]),
  },
  {
    kind: "counter",
    name: "registrar_publications_total",
    help: "How often the registration socket was put in place, by what led to it",
    ...ofDriverBy("reason", ({ tally }) =>
      PUBLISH_REASONS.map((reason) => [reason, tally.publications[reason] ?? 0]),
    ),
  },
  {
    kind: "counter",
    name: "registrar_takeovers_total",
    help: "How often the registration was taken over from a registrar that was gone",
    ...ofDriver(({ tally }) => tally.takeovers),
  },
  {
    kind: "gauge",
    name: "registrar_driver_info",
    help: "What the CSI driver told of itself",
    ...ofDriverBy("vendor_version", ({ identity }) => (identity ? [[identity.vendorVersion, 1]] : [])),
  },
  {
    kind: "gauge",
    name: "registrar_driver_trouble",
    help: "1 for a driver's socket behind which there is nothing to register, by what is wrong: no-answer, name-withheld, failed",
    labelNames: ["csi_address", "reason"],
    readsAll: true,
    samples: (_facts, registrations) =>
      registrations.flatMap(({ csiAddress, status }) => {
        const { trouble } = status();
        if (trouble === undefined || csiAddress === undefined) return [];
        if (trouble.kind === "not-wanted") return []; // As configured: an alert would never end.
        return [{ labels: { csi_address: csiAddress, reason: trouble.kind }, value: 1 }];
      }),
  },
  {
    kind: "gauge",
    name: "registrar_build_info",
    help: "Version of this registrar and of Node",
    labelNames: ["version", "node_version"],
    samples: ({ version, nodeVersion }) => [{ labels: { version, node_version: nodeVersion }, value: 1 }],
  },
  {
    kind: "gauge",
    name: "process_start_time_seconds",
    help: "Start time of the process since unix epoch in seconds.",
    samples: ({ startedAt }) => one(startedAt / 1000),
  },
  {
    kind: "counter",
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
    samples: ({ usage }) => one(usage().cpuSeconds),
  },
  {
    kind: "gauge",
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    samples: ({ usage }) => one(usage().residentBytes),
  },
  {
    kind: "gauge",
    name: "nodejs_heap_size_used_bytes",
    help: "Size of the V8 heap in use in bytes.",
    samples: ({ usage }) => one(usage().heapBytes),
  },
];
