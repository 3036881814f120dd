import { checkNamed } from "../names";
import { scalar, type Yaml, yaml } from "../template";
import { METRICS_PORT_NAME } from "./changes";
import { POLICY_NAMES, type PolicyScope } from "./image-policy";

/** How Prometheus finds the registrars to which the policy gives a port. Throws INVALID_OPTION. */
export function swappedPodMonitor({ name = POLICY_NAMES.swap, namespaces }: PolicyScope): Yaml {
  checkNamed("label", "name", name);
  for (const namespace of namespaces) checkNamed("label", "namespace", namespace);
  return yaml`
    # Makes the Prometheus Operator scrape every registrar to which the policy ${scalar(name)} gives the port "${METRICS_PORT_NAME}",
    # in the pods of every chart. Your Prometheus loads only the PodMonitors that its podMonitorSelector matches: add the labels
    # that it requires.
    apiVersion: monitoring.coreos.com/v1
    kind: PodMonitor
    metadata:
      name: ${scalar(name)}
      namespace: kube-system
    spec:
      namespaceSelector: ${namespaces.length === 0 ? "{any: true}" : `{matchNames: ${JSON.stringify(namespaces)}}`}
      selector: {}
      podMetricsEndpoints:
        - port: ${METRICS_PORT_NAME}
          path: /metrics
          interval: 30s
          # The node's name is for the alerts. The DaemonSet as job: otherwise all drivers of a namespace would be one.
          relabelings:
            - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}
            - sourceLabels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_controller_name]
              separator: /
              targetLabel: job
  `;
}
