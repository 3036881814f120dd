import { podLabels } from "./daemon-set";
import type { Manifest } from "./manifest";
import type { ResolvedBasics } from "./options";
import { HEALTH_PORT_NAME } from "./registrar-container";

/** How Prometheus finds the registrars' metrics: PodMonitor of the Prometheus Operator. */
export function podMonitor(options: Pick<ResolvedBasics, "name" | "namespace">): Manifest {
  const { name, namespace } = options;
  return {
    about: [
      "Makes the Prometheus Operator scrape the registrar in each pod. Your Prometheus loads only the PodMonitors that its",
      "podMonitorSelector matches: add the labels that it requires.",
    ],
    object: {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PodMonitor",
      metadata: { name, namespace },
      spec: {
        selector: { matchLabels: podLabels(options) },
        podMetricsEndpoints: [
          {
            port: HEALTH_PORT_NAME,
            path: "/metrics",
            interval: "30s",
            relabelings: [{ sourceLabels: ["__meta_kubernetes_pod_node_name"], targetLabel: "node" }],
          },
        ],
      },
    },
    comments: {
      "spec.podMetricsEndpoints.0.relabelings":
        "A registration belongs to a node: put the node's name on it, in alerts too.",
    },
  };
}
