import { boundText } from "../logging/bound";
import type { HealthCheck } from "./health-checks";
import type { MetricRow, Sample } from "./metric-table";

/** What is served of the node's readiness, where that is wanted. */
export interface NodeReadinessView {
  readonly nodeName: string;
  readonly api: {
    readonly calls: number;
    readonly failures: Readonly<Record<string, number>>;
    readonly trouble:
      | { readonly kind: string; readonly doing: string; readonly message: string; readonly since: number }
      | undefined;
  };
  readonly taints: readonly {
    readonly driverName: string;
    readonly taint: string;
    readonly present: boolean;
    readonly overdueSince: number | undefined;
    readonly hindrance: string | undefined;
    readonly removals: number;
    readonly lastRemovalMs: number | undefined;
  }[];
  readonly conditions: readonly {
    readonly driverName: string | undefined;
    readonly type: string;
    readonly status: string | undefined;
    readonly reason: string | undefined;
    readonly writes: number;
  }[];
}

/** How the view is come by. */
export type ViewNodeReadiness = () => NodeReadinessView;

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
        return boundText(
          `taint ${overdue.taint} is still on${overdue.hindrance ? `: ${overdue.hindrance}` : ""}`,
        );
      return api.trouble && boundText(`${api.trouble.doing}: ${api.trouble.message}`);
    },
  };
}

/** What `/statusz` says of it. */
export function describeNodeReadiness({ nodeName, api, taints, conditions }: NodeReadinessView): object {
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
        message: boundText(trouble.message),
        since: time(trouble.since),
      }),
    },
    taints: taints.map((taint) => ({ ...taint, overdueSince: time(taint.overdueSince) })),
    conditions,
  };
}

const labelsOf = ({ driverName, taint }: NodeReadinessView["taints"][number]) => ({
  driver_name: driverName,
  taint: taint.replace(/[=:].*/, ""),
});
const LABELS = ["driver_name", "taint"];

interface NodeReadinessMetric extends Omit<MetricRow, "samples"> {
  readonly samples: (view: NodeReadinessView) => readonly Sample[];
}

/** Its metrics. Names and labels are a promise to dashboards: see docs/node-readiness.md. */
export const NODE_READINESS_METRICS: readonly NodeReadinessMetric[] = [
  {
    kind: "gauge",
    name: "registrar_startup_taint_overdue",
    help: "1 while kubelet has the driver registered and its startup taint is on the node all the same",
    labelNames: LABELS,
    samples: ({ taints }) =>
      taints.map((one) => ({ labels: labelsOf(one), value: one.overdueSince === undefined ? 0 : 1 })),
  },
  {
    kind: "counter",
    name: "registrar_startup_taint_removals_total",
    help: "Startup taints that were removed and seen to be gone",
    labelNames: LABELS,
    samples: ({ taints }) => taints.map((one) => ({ labels: labelsOf(one), value: one.removals })),
  },
  {
    kind: "gauge",
    name: "registrar_startup_taint_removal_seconds",
    help: "From kubelet's registration status to the moment the startup taint was last seen to be gone",
    labelNames: LABELS,
    samples: ({ taints }) =>
      taints.flatMap((one) =>
        one.lastRemovalMs === undefined ? [] : [{ labels: labelsOf(one), value: one.lastRemovalMs / 1000 }],
      ),
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
    samples: ({ api }) =>
      Object.entries(api.failures).map(([kind, value]) => ({
        labels: { kind },
        value,
      })),
  },
];

/** The same as rows to be read at a scrape. */
export function nodeReadinessMetrics(view: ViewNodeReadiness): readonly MetricRow[] {
  return NODE_READINESS_METRICS.map(({ samples, ...row }) => ({ ...row, samples: () => samples(view()) }));
}
