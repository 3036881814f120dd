import dashboard from "./dashboard.json";
import type { ResolvedBasics } from "./options";
import { object, type Yaml, yaml } from "./template";

export const PAGES = "https://example.com/registrar/blob/main/docs";

const OF_DRIVER = "?var-driver={{ $labels.driver_name }}";

/** The labels and first annotations of an alert: a page of the docs, and our dashboard at any Grafana. */
const notes = (severity: "critical" | "warning", page: string, query = "") => yaml`
  labels: {severity: ${severity}}
  annotations:
    runbook_url: ${PAGES}/${page}
    dashboard_url: /d/${dashboard.uid}${query}
`;

/** The alerts of every registrar. One that is down has no series: those alerts also read kube-state-metrics. */
export const alertRules = ({ namespace }: Pick<ResolvedBasics, "namespace">): Yaml => yaml`
  # Your Prometheus loads only the rules that its ruleSelector matches: add the labels that it requires.
  ${object("monitoring.coreos.com/v1", "PrometheusRule", "registrar", namespace)}
  spec:
    groups:
      - name: registrar
        rules:
          - alert: CSIDriverNotRegistered
            expr: >-
              registrar_registered == 0 unless on (namespace, pod, driver_name) registrar_state{state="standby"}
              == 1
            for: 5m
            ${notes("critical", "troubleshooting.md#a-pod-waits-driver-name-not-found", OF_DRIVER)}
              summary: CSI driver {{ $labels.driver_name }} is not registered on node {{ $labels.node }}
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} runs, but kubelet has not registered
                the driver for 5 minutes. Pods with its volumes cannot start or be cleaned up on this node. The
                /statusz and \`registrar doctor\` of the container report what is missing. unknown-driver means
                that the driver has not answered yet.
          - alert: CSIDriverRefused
            expr: increase(registrar_notices_total{result="refused"}[15m]) > 0
            ${notes("warning", "troubleshooting.md#why-kubelet-refuses-a-driver", OF_DRIVER)}
              summary: Kubelet refuses CSI driver {{ $labels.driver_name }} on node {{ $labels.node }}
              description: >-
                Kubelet refused to register the driver of {{ $labels.namespace }}/{{ $labels.pod }}; the
                registrar's log and /statusz have the reason. Needs --on-registration-failure=retry: otherwise
                the registrar exits, and CSIRegistrarRestarting fires.
          - alert: CSIRegistrarRestarting
            expr: increase(kube_pod_container_status_restarts_total{container=~".*registrar.*"}[15m]) >= 3
            ${notes("warning", "troubleshooting.md#the-registrar-restarts-again-and-again")}
              summary: The registrar in {{ $labels.namespace }}/{{ $labels.pod }} restarts again and again
              description: >-
                \`kubectl describe pod\` shows under Last State why it exited, with kubelet's error if it refused
                the driver, and the fix. Needs kube-state-metrics.
          - alert: CSIRegistrarsUnseen
            expr: >-
              group(last_over_time(registrar_build_info[1d]) or ALERTS{alertname="CSIRegistrarsUnseen"})
              unless group(registrar_build_info)
            for: 15m
            ${notes("warning", "operations.md#alerts")}
              summary: No registrar is scraped in this cluster
              description: >-
                Prometheus scraped registrars, and now it scrapes none: the pods are down, or their PodMonitor or port
                is gone. Meanwhile no other alert about registrations can fire. It ends when one is scraped again, or
                with this rule.
          - alert: CSIRegistrarMissing
            expr: >-
              group by (namespace, job, node) (last_over_time(registrar_build_info[1d]))
              unless on (namespace, job, node) registrar_build_info
              and on (namespace, job) registrar_build_info and on (node) kube_node_info
            for: 15m
            ${notes("warning", "operations.md#alerts")}
              summary: Node {{ $labels.node }} has lost the registrar of {{ $labels.job }}
              description: >-
                Within a day Prometheus scraped a registrar of {{ $labels.job }} on this node, and on others it
                still does. On this one the pod is down, or does not answer: no pod with the driver's volumes can
                start there. Needs kube-state-metrics.
          - alert: CSIDriverNotRegistrable
            expr: registrar_driver_trouble == 1
            for: 10m
            ${notes("warning", "operations.md#alerts")}
              summary: "A CSI driver on node {{ $labels.node }} cannot be registered: {{ $labels.reason }}"
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} found the driver socket {{
                $labels.csi_address }}. no-answer: GetPluginInfo fails or hangs. name-withheld: another driver
                of the node has its name. not-published: its registration socket was removed and cannot be
                created again. failed: its name is not safe, or its registration socket cannot be created.
                /statusz has the details.
          - alert: CSIRegistrationFlapping
            expr: >-
              sum without (reason) (increase(
              registrar_publications_total{reason!~"driver-named|kubelet-silent|retry"}[1h])) >= 6
            ${notes("warning", "troubleshooting.md#two-registrars", OF_DRIVER)}
              summary: The registration of CSI driver {{ $labels.driver_name }} on node {{ $labels.node }} does not last
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} published its registration socket
                again {{ $value | humanize }} times in an hour; each time kubelet deregistered the driver for a
                moment. A second DaemonSet or a cleanup job may remove or replace the socket.
                registrar_publications_total has the reasons.
          - alert: CSIDriverDisconnected
            expr: registrar_driver_connected{driver_name!="unknown-driver"} == 0
            for: 5m
            ${notes("warning", "operations.md#alerts", OF_DRIVER)}
              summary: CSI driver {{ $labels.driver_name }} has no connection on node {{ $labels.node }}
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} has had no connection to the driver
                for 5 minutes. The driver is still registered, but kubelet cannot mount or unmount its volumes.
                Read the log of the driver's container.
          - alert: CSIRegistrarStandby
            expr: registrar_state{state="standby"} == 1
            for: 15m
            ${notes("warning", "troubleshooting.md#two-registrars", OF_DRIVER)}
              summary: CSI driver {{ $labels.driver_name }} has two registrars on node {{ $labels.node }}
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} has stood by for 15 minutes because
                another one holds the driver's registration. The driver may be deployed twice.
          - alert: CSIStartupTaintStays
            expr: registrar_startup_taint_overdue == 1
            for: 1m
            ${notes("warning", "node-readiness.md#when-the-api-server-fails", OF_DRIVER)}
              summary: >-
                Startup taint {{ $labels.taint }} of CSI driver {{ $labels.driver_name }} stays on node {{
                $labels.node }}
              description: >-
                Kubelet has registered the driver, but its startup taint is on for a minute: no pod is
                scheduled there. /statusz and the log of {{ $labels.namespace }}/{{ $labels.pod }} have the API
                server's answer.
`;
