import type { NodeReadinessStatus } from "../node-readiness/start-node-readiness";
import { failed, type HealthCheck, passed } from "./health-checks";
import { type Metric, type MetricRow, metricRows } from "./metric-table";

export type ViewNodeReadiness = () => NodeReadinessStatus;

/** Counts only where it is required: a failure of the API server must not stop a rolling update. */
export function nodeReadinessCheck(view: ViewNodeReadiness): HealthCheck {
  return {
    name: "node-readiness",
    informative: true,
    run: () => {
      const { api, taints } = view();
      const overdue = taints.find(({ overdueSince }) => overdueSince !== undefined);
      if (overdue !== undefined)
        return failed(
          `taint ${overdue.taint} is still on${overdue.hindrance ? `: ${overdue.hindrance}` : ""}`,
        );
      return api.trouble ? failed(`${api.trouble.doing}: ${api.trouble.message}`) : passed();
    },
  };
}

export function describeNodeReadiness({ nodeName, api, ...status }: NodeReadinessStatus): object {
  const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
  const { trouble: { kind, doing, message, since } = {}, ...counts } = api;
  return {
    node: nodeName,
    apiServer: { ...counts, trouble: kind, doing, message, since: time(since) },
    taints: status.taints.map((taint) => ({ ...taint, overdueSince: time(taint.overdueSince) })),
    conditions: status.conditions,
    csiNode: status.csiNode.map((one) => ({ ...one, lackingSince: time(one.lackingSince) })),
  };
}

type TaintStatus = NodeReadinessStatus["taints"][number];

/** Its metrics. Names and labels are a contract with dashboards: see docs/node-readiness.md. */
export function nodeReadinessMetrics(view: ViewNodeReadiness): readonly MetricRow[] {
  /** A metric with one sample for each startup taint, unless it is undefined. */
  const ofTaint = (help: string, read: (taint: TaintStatus) => number | undefined): Metric => ({
    help,
    labelNames: ["driver_name", "taint"],
    samples: () =>
      view().taints.flatMap((status) => {
        const value = read(status);
        const labels = { driver_name: status.driverName, taint: status.taint.replace(/[=:].*/, "") };
        return value === undefined ? [] : [{ labels, value }];
      }),
  });

  return metricRows({
    registrar_startup_taint_overdue: ofTaint(
      "1 while kubelet has the driver registered and its startup taint is on the node all the same",
      ({ overdueSince }) => (overdueSince === undefined ? 0 : 1),
    ),
    registrar_startup_taint_removals_total: ofTaint(
      "Startup taints that were removed and seen to be gone",
      ({ removals }) => removals,
    ),
    registrar_startup_taint_removal_seconds: ofTaint(
      "From kubelet's registration status to the moment the startup taint was last seen to be gone",
      ({ lastRemovalMs }) => lastRemovalMs && lastRemovalMs / 1000,
    ),
    registrar_node_condition: {
      help: "1 where the node's condition is True, 0 where it is not",
      labelNames: ["driver_name", "condition"],
      samples: () =>
        view().conditions.map(({ driverName = "", type, status }) => ({
          labels: { driver_name: driverName, condition: type },
          value: status === "True" ? 1 : 0,
        })),
    },
    registrar_csinode_lacks_driver: {
      help: "1 while kubelet has the driver registered and the registrar has seen that CSINode lacks it",
      labelNames: ["driver_name"],
      samples: () =>
        view().csiNode.map(({ driverName, lackingSince }) => ({
          labels: { driver_name: driverName },
          value: lackingSince === undefined ? 0 : 1,
        })),
    },
    registrar_api_requests_total: {
      help: "Requests to the API server, watches among them",
      samples: () => [{ value: view().api.calls }],
    },
    registrar_api_failures_total: {
      help: "Failed requests to the API server, by kind of failure",
      labelNames: ["kind"],
      samples: () =>
        Object.entries(view().api.failures).map(([kind, value]) => ({ labels: { kind }, value })),
    },
  });
}
