import type { Manifest } from "./manifest";
import type { ResolvedManifestOptions } from "./options";

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly severity: "critical" | "warning";
  readonly summary: string;
  readonly description: string;
}

const DRIVER = "{{ $labels.driver_name }}";
const TAINT = "{{ $labels.taint }}";
const NODE = "node {{ $labels.node }}";
const POD = "{{ $labels.namespace }}/{{ $labels.pod }}";

/** What somebody should look at. No rule fires for a registrar that is down, because it has no series then. */
const ALERTS: readonly Alert[] = [
  {
    alert: "CSIDriverNotRegistered",
    expr: 'registrar_registered == 0 unless on (namespace, pod, driver_name) registrar_state{state="standby"} == 1',
    for: "5m",
    severity: "critical",
    summary: `CSI driver ${DRIVER} is not registered on ${NODE}`,
    description:
      `The registrar in ${POD} runs, but kubelet has not registered the driver for 5 minutes. Pods with its volumes ` +
      "cannot start or be cleaned up on this node. The registrar's /statusz and `registrar doctor` in its container " +
      "say what is missing. unknown-driver means that the driver has not told its name yet.",
  },
  {
    alert: "CSIDriverRefused",
    expr: 'increase(registrar_notices_total{result="refused"}[15m]) > 0',
    severity: "warning",
    summary: `Kubelet refuses CSI driver ${DRIVER} on ${NODE}`,
    description:
      `Kubelet refused the driver of ${POD}. The reason is in the registrar's log and, if the registrar exited ` +
      "because of it, in `kubectl describe pod`.",
  },
  {
    alert: "CSIRegistrationFlapping",
    expr: "sum without (reason) (increase(registrar_publications_total[1h])) > 5",
    severity: "warning",
    summary: `The registration of CSI driver ${DRIVER} on ${NODE} does not last`,
    description:
      `The registrar in ${POD} put its registration socket in place {{ $value | humanize }} times in an hour, and each ` +
      "time kubelet deregistered the driver for a moment. Something removes or replaces the socket, such as a second " +
      "DaemonSet or a cleanup job. The label reason of registrar_publications_total says more.",
  },
  {
    alert: "CSIDriverDisconnected",
    expr: 'registrar_driver_connected{driver_name!="unknown-driver"} == 0',
    for: "5m",
    severity: "warning",
    summary: `CSI driver ${DRIVER} does not answer on ${NODE}`,
    description:
      `The registrar in ${POD} has had no connection to the driver for 5 minutes. The driver is still registered, but ` +
      "kubelet cannot mount or unmount its volumes. Read the log of the driver's container.",
  },
  {
    alert: "CSIRegistrarStandby",
    expr: 'registrar_state{state="standby"} == 1',
    for: "15m",
    severity: "warning",
    summary: `CSI driver ${DRIVER} has two registrars on ${NODE}`,
    description:
      `The registrar in ${POD} has stood by for 15 minutes because another one holds the driver's registration. The ` +
      "driver may be deployed twice.",
  },
  {
    alert: "CSIStartupTaintStays",
    expr: "registrar_startup_taint_overdue == 1",
    for: "1m",
    severity: "warning",
    summary: `Startup taint ${TAINT} of CSI driver ${DRIVER} stays on ${NODE}`,
    description:
      `Kubelet has registered the driver, and its startup taint has been on for a minute all the same: no pod ` +
      `is scheduled there. /statusz and the log of the registrar in ${POD} say what the API server answers.`,
  },
];

/** The alerts as a PrometheusRule of the Prometheus Operator, for every driver that has a registrar. */
export function alertRules({ namespace }: Pick<ResolvedManifestOptions, "namespace">): Manifest {
  return {
    about: [
      "Alerts for every driver that has a registrar. The label node comes from the PodMonitor. Your Prometheus loads only",
      "the rules that its ruleSelector matches: add the labels that it requires.",
    ],
    object: {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: { name: "registrar", namespace },
      spec: {
        groups: [
          {
            name: "registrar",
            rules: ALERTS.map(({ alert, expr, for: lasting, severity, summary, description }) => ({
              alert,
              expr,
              ...(lasting === undefined ? {} : { for: lasting }),
              labels: { severity },
              annotations: { summary, description },
            })),
          },
        ],
      },
    },
    comments: [],
  };
}
