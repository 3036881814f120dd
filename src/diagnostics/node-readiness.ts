import type { NodeReadinessStatus } from "../node-readiness/start-node-readiness";
import { fails, passes } from "./health-checks";
import type { Metric, Metrics, Sample } from "./metric-table";
import type { ShownNodeReadiness } from "./routes";

type View = () => NodeReadinessStatus;

/** What the HTTP endpoint shows of node readiness. Loaded with it, and not by other registrations. */
export const showNodeReadiness = (view: View): ShownNodeReadiness => ({
  // Counts only where it is required: a failure of the API server must not stop a rolling update.
  check: { name: "node-readiness", informative: true, run: () => judge(view()) },
  metrics: metricsOf(view),
  describe: () => describe(view()),
});

function judge({ api, taints }: NodeReadinessStatus) {
  const overdue = taints.find(({ overdueAtMs }) => overdueAtMs !== undefined);
  if (overdue !== undefined)
    return fails(
      `taint ${overdue.taint} is still on the node${overdue.hindrance ? `: ${overdue.hindrance}` : ""}`,
    );
  return api.trouble ? fails(`${api.trouble.doing}: ${api.trouble.message}`) : passes();
}

function describe({ nodeName, api, ...status }: NodeReadinessStatus): object {
  const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
  const { trouble: { kind, doing, message, failedAtMs } = {}, ...counts } = api;
  return {
    node: nodeName,
    apiServer: { ...counts, trouble: kind, doing, message, since: time(failedAtMs) },
    taints: status.taints.map(({ overdueAtMs, ...taint }) => ({
      ...taint,
      overdueSince: time(overdueAtMs),
    })),
    conditions: status.conditions,
    csiNode: status.csiNode.map(({ missedAtMs, ...one }) => ({
      ...one,
      lackingSince: time(missedAtMs),
    })),
  };
}

type TaintStatus = NodeReadinessStatus["taints"][number];

/** Its metrics. Names and labels are a contract with dashboards: see docs/node-readiness.md. */
function metricsOf(view: View): Metrics {
  const ofTaints = (help: string, read: (taint: TaintStatus) => Sample[0]): Metric => ({
    help,
    labelNames: ["driver_name", "taint"],
    samples: () =>
      view().taints.map((one) => [read(one), one.driverName, one.taint.replace(/[=:].*/, "")] as const),
  });
  return {
    registrar_startup_taint_overdue: ofTaints(
      "1 while the driver is registered and its startup taint is on the node all the same",
      ({ overdueAtMs }) => overdueAtMs !== undefined,
    ),
    registrar_startup_taint_removals_total: ofTaints("Startup taints removed", ({ removals }) => removals),
    registrar_startup_taint_removal_seconds: ofTaints(
      "From kubelet's registration status to the moment the startup taint was last seen to be gone",
      ({ lastRemovalMs }) => lastRemovalMs && lastRemovalMs / 1000,
    ),
    registrar_node_condition: {
      help: "1 where the node's condition is True, 0 where it is not",
      labelNames: ["driver_name", "condition"],
      samples: () =>
        view().conditions.map(({ driverName = "", type, status }) => [status === "True", driverName, type]),
    },
    registrar_csinode_lacks_driver: {
      help: "1 while the driver is registered and CSINode lacks it",
      labelNames: ["driver_name"],
      samples: () => view().csiNode.map((one) => [one.missedAtMs !== undefined, one.driverName]),
    },
    registrar_api_requests_total: {
      help: "Requests to the API server, watches among them",
      samples: () => [[view().api.calls]],
    },
    registrar_api_failures_total: {
      help: "Failed requests to the API server, by kind of failure",
      labelNames: ["kind"],
      samples: () => Object.entries(view().api.failures).map(([kind, value]) => [value, kind]),
    },
  };
}
