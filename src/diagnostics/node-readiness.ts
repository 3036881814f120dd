import type { NodeReadinessStatus } from "../node-readiness/run-node-readiness";
import type { HealthCheck } from "./health-checks";
import type { MetricRow, Sample } from "./metric-table";

/** Where the node's readiness stands, if this process keeps it. */
export type ViewNodeReadiness = () => NodeReadinessStatus;

/**
 * Whether the node is as the registrar wants it. It does not count unless `/readyz?require=node-readiness` says so: a
 * driver is ready whatever the API server does, and a DaemonSet must not stop to roll because of it.
 */
export function nodeReadinessCheck(view: ViewNodeReadiness): HealthCheck {
  return {
    name: "node-readiness",
    informative: true,
    run: async () => {
      const { api, taints } = view();
      const overdue = taints.find(({ overdueSince }) => overdueSince !== undefined);
      if (overdue !== undefined)
        return `taint ${overdue.taint} is still on${overdue.hindrance ? `: ${overdue.hindrance}` : ""}`;
      return api.trouble && `${api.trouble.doing}: ${api.trouble.message}`;
    },
  };
}

/** What `/statusz` says of it. */
export function describeNodeReadiness({
  nodeName,
  api,
  taints,
  conditions,
  csiNode,
}: NodeReadinessStatus): object {
  const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
  const { trouble } = api;
  return {
    node: nodeName,
    apiServer: {
      calls: api.calls,
      failures: api.failures,
      ...(trouble && {
        trouble: trouble.kind,
        doing: trouble.doing,
        message: trouble.message,
        since: time(trouble.since),
      }),
    },
    taints: taints.map((taint) => ({ ...taint, overdueSince: time(taint.overdueSince) })),
    conditions,
    csiNode: csiNode.map((one) => ({ ...one, lackingSince: time(one.lackingSince) })),
  };
}

const labelsOf = ({ driverName, taint }: NodeReadinessStatus["taints"][number]) => ({
  driver_name: driverName,
  taint: taint.replace(/[=:].*/, ""),
});

interface NodeReadinessMetric extends Omit<MetricRow, "samples"> {
  readonly samples: (view: NodeReadinessStatus) => readonly Sample[];
}

/** A sample for each startup taint of which something is known. */
const ofTaint = (read: (taint: NodeReadinessStatus["taints"][number]) => number | undefined) => ({
  labelNames: ["driver_name", "taint"],
  samples: ({ taints }: NodeReadinessStatus) =>
    taints.flatMap((taint) => {
      const value = read(taint);
      return value === undefined ? [] : [{ labels: labelsOf(taint), value }];
    }),
});

/** Its metrics. Names and labels are a promise to dashboards: see docs/node-readiness.md. */
export const NODE_READINESS_METRICS: readonly NodeReadinessMetric[] = [
  {
    kind: "gauge",
    name: "registrar_startup_taint_overdue",
    help: "1 while kubelet has the driver registered and its startup taint is on the node all the same",
    ...ofTaint(({ overdueSince }) => (overdueSince === undefined ? 0 : 1)),
  },
  {
    kind: "counter",
    name: "registrar_startup_taint_removals_total",
    help: "Startup taints that were removed and seen to be gone",
    ...ofTaint(({ removals }) => removals),
  },
  {
    kind: "gauge",
    name: "registrar_startup_taint_removal_seconds",
    help: "From kubelet's registration status to the moment the startup taint was last seen to be gone",
    ...ofTaint(({ lastRemovalMs }) => lastRemovalMs && lastRemovalMs / 1000),
  },
  {
    kind: "gauge",
    name: "registrar_node_condition",
    help: "1 where the node's condition is True, 0 where it is not",
    labelNames: ["driver_name", "condition"],
    samples: ({ conditions }) =>
      conditions.map(({ driverName = "", type, status }) => ({
        labels: { driver_name: driverName, condition: type },
        value: status === "True" ? 1 : 0,
      })),
  },
  {
    kind: "gauge",
    name: "registrar_csinode_lacks_driver",
    help: "1 while kubelet has the driver registered and the registrar has seen that CSINode lacks it",
    labelNames: ["driver_name"],
    samples: ({ csiNode }) =>
      csiNode.map(({ driverName, lackingSince }) => ({
        labels: { driver_name: driverName },
        value: lackingSince === undefined ? 0 : 1,
      })),
  },
  {
    kind: "counter",
    name: "registrar_api_requests_total",
    help: "Requests to the API server, watches among them",
    samples: ({ api }) => [{ value: api.calls }],
  },
  {
    kind: "counter",
    name: "registrar_api_failures_total",
    help: "What the API server did not do, by why",
    labelNames: ["kind"],
    samples: ({ api }) => Object.entries(api.failures).map(([kind, value]) => ({ labels: { kind }, value })),
  },
];

/** The same as rows to be read at a scrape. */
export function nodeReadinessMetrics(view: ViewNodeReadiness): readonly MetricRow[] {
  return NODE_READINESS_METRICS.map(({ samples, ...row }) => ({ ...row, samples: () => samples(view()) }));
}
