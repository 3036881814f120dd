import type { Manifest } from "./manifest";
import type { ResolvedBasics } from "./options";

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

/**
 * What deserves that somebody looks. A registrar that is down has no series: its restarts are kube-state-metrics' to
 * tell, and that none is scraped at all is told by the absence of all series.
 */
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
      `Kubelet told the registrar in ${POD} that it does not register the driver. Its reason stands in the registrar's ` +
      "log and on its /statusz. Seen with --on-registration-failure=retry; without it the registrar has ended by then, " +
      "and CSIRegistrarRestarting fires.",
  },
  {
    alert: "CSIRegistrarRestarting",
    expr: 'increase(kube_pod_container_status_restarts_total{container=~".*registrar.*"}[15m]) > 2',
    severity: "warning",
    summary: `The registrar in ${POD} restarts again and again`,
    description:
      "Why it ended stands in `kubectl describe pod` under Last State, kubelet's words of refusal too, with what to " +
      "change behind them. Needs kube-state-metrics.",
  },
  {
    alert: "CSIRegistrarsUnseen",
    expr: "absent(registrar_build_info)",
    for: "15m",
    severity: "warning",
    summary: "No registrar is scraped in this cluster",
    description:
      "Prometheus has no series of any registrar: their pods are down, or it does not scrape them (PodMonitor, port " +
      "--http-endpoint). As long as this fires, no other alert about registrations can.",
  },
  {
    alert: "CSIDriverNotRegistrable",
    expr: "registrar_driver_trouble == 1",
    for: "10m",
    severity: "warning",
    summary: `A CSI driver on ${NODE} cannot be registered: {{ $labels.reason }}`,
    description:
      `The registrar in ${POD} found the driver socket {{ $labels.csi_address }}. no-answer: GetPluginInfo fails or hangs. ` +
      "name-withheld: another driver of the node has its name. failed: its name is not safe, " +
      "or its registration socket cannot be made. /statusz tells the reason in words.",
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
    summary: `CSI driver ${DRIVER} has no connection on ${NODE}`,
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

/** When to call somebody: PrometheusRule of the Prometheus Operator. It serves every driver with a registrar. */
export function alertRules({ namespace }: Pick<ResolvedBasics, "namespace">): Manifest {
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
  };
}
