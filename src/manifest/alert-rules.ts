import type { ResolvedBasics } from "./options";
import { scalar, type Yaml, yaml } from "./template";

/** A registrar that is down has no series: kube-state-metrics counts its restarts, and CSIRegistrarsUnseen fires. */
export const alertRules = ({ namespace }: Pick<ResolvedBasics, "namespace">): Yaml => yaml`
  # Alerts for every driver that has a registrar. The label node comes from the PodMonitor. Your Prometheus loads only
  # the rules that its ruleSelector matches: add the labels that it requires.
  apiVersion: monitoring.coreos.com/v1
  kind: PrometheusRule
  metadata:
    name: registrar
    namespace: ${scalar(namespace)}
  spec:
    groups:
      - name: registrar
        rules:
          - alert: CSIDriverNotRegistered
            expr: >-
              registrar_registered == 0 unless on (namespace, pod, driver_name) registrar_state{state="standby"}
              == 1
            for: 5m
            labels: {severity: critical}
            annotations:
              summary: CSI driver {{ $labels.driver_name }} is not registered on node {{ $labels.node }}
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} runs, but kubelet has not registered
                the driver for 5 minutes. Pods with its volumes cannot start or be cleaned up on this node. The
                registrar's /statusz and \`registrar doctor\` in its container say what is missing. unknown-driver
                means that the driver has not told its name yet.
          - alert: CSIDriverRefused
            expr: increase(registrar_notices_total{result="refused"}[15m]) > 0
            labels: {severity: warning}
            annotations:
              summary: Kubelet refuses CSI driver {{ $labels.driver_name }} on node {{ $labels.node }}
              description: >-
                Kubelet refused to register the driver of the registrar in {{ $labels.namespace }}/{{
                $labels.pod }}. Its reason stands in the registrar's log and on its /statusz. Seen with
                --on-registration-failure=retry; without it the registrar has ended by then, and
                CSIRegistrarRestarting fires.
          - alert: CSIRegistrarRestarting
            expr: increase(kube_pod_container_status_restarts_total{container=~".*registrar.*"}[15m]) > 2
            labels: {severity: warning}
            annotations:
              summary: The registrar in {{ $labels.namespace }}/{{ $labels.pod }} restarts again and again
              description: >-
                Why it ended stands in \`kubectl describe pod\` under Last State, kubelet's words of refusal too,
                with what to change behind them. Needs kube-state-metrics.
          - alert: CSIRegistrarsUnseen
            expr: absent(registrar_build_info)
            for: 15m
            labels: {severity: warning}
            annotations:
              summary: No registrar is scraped in this cluster
              description: >-
                Prometheus has no series of any registrar: their pods are down, or it does not scrape them
                (PodMonitor, port --http-endpoint). As long as this fires, no other alert about registrations
                can.
          - alert: CSIDriverNotRegistrable
            expr: registrar_driver_trouble == 1
            for: 10m
            labels: {severity: warning}
            annotations:
              summary: "A CSI driver on node {{ $labels.node }} cannot be registered: {{ $labels.reason }}"
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} found the driver socket {{
                $labels.csi_address }}. no-answer: GetPluginInfo fails or hangs. name-withheld: another driver
                of the node has its name. failed: its name is not safe, or its registration socket cannot be
                made. /statusz tells the reason in words.
          - alert: CSIRegistrationFlapping
            expr: sum without (reason) (increase(registrar_publications_total[1h])) > 5
            labels: {severity: warning}
            annotations:
              summary: The registration of CSI driver {{ $labels.driver_name }} on node {{ $labels.node }} does not last
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} put its registration socket in place
                {{ $value | humanize }} times in an hour, and each time kubelet deregistered the driver for a
                moment. Something removes or replaces the socket, such as a second DaemonSet or a cleanup job.
                The label reason of registrar_publications_total says more.
          - alert: CSIDriverDisconnected
            expr: registrar_driver_connected{driver_name!="unknown-driver"} == 0
            for: 5m
            labels: {severity: warning}
            annotations:
              summary: CSI driver {{ $labels.driver_name }} has no connection on node {{ $labels.node }}
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} has had no connection to the driver
                for 5 minutes. The driver is still registered, but kubelet cannot mount or unmount its volumes.
                Read the log of the driver's container.
          - alert: CSIRegistrarStandby
            expr: registrar_state{state="standby"} == 1
            for: 15m
            labels: {severity: warning}
            annotations:
              summary: CSI driver {{ $labels.driver_name }} has two registrars on node {{ $labels.node }}
              description: >-
                The registrar in {{ $labels.namespace }}/{{ $labels.pod }} has stood by for 15 minutes because
                another one holds the driver's registration. The driver may be deployed twice.
          - alert: CSIStartupTaintStays
            expr: registrar_startup_taint_overdue == 1
            for: 1m
            labels: {severity: warning}
            annotations:
              summary: >-
                Startup taint {{ $labels.taint }} of CSI driver {{ $labels.driver_name }} stays on node {{
                $labels.node }}
              description: >-
                Kubelet has registered the driver, and its startup taint has been on for a minute all the same:
                no pod is scheduled there. /statusz and the log of the registrar in {{ $labels.namespace }}/{{
                $labels.pod }} say what the API server answers.
`;
