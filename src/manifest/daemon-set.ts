import type { KubernetesObject } from "./manifest";

/** What is told of a DaemonSet; the rest is the same for everything that serves kubelet on a node. */
export interface DaemonSetParts {
  readonly name: string;
  readonly namespace: string;
  readonly rollingUpdate: { readonly maxSurge: number; readonly maxUnavailable: number | string };
  readonly minReadySeconds?: number;
  /** Whose log and shell `kubectl` means, where there are several containers. */
  readonly defaultContainer?: string;
  readonly containers: readonly object[];
  readonly volumes: readonly object[];
}

/** The label by which everything finds the pods. */
export function podLabels({ name }: { readonly name: string }) {
  return { "app.kubernetes.io/name": name };
}

/** A DaemonSet for every Linux node, whatever its taints: one that comes early, goes last and has no token. */
export function daemonSetObject(parts: DaemonSetParts): KubernetesObject {
  const { name, namespace, rollingUpdate, minReadySeconds, defaultContainer, containers, volumes } = parts;
  const labels = podLabels(parts);
  const annotations = { "kubectl.kubernetes.io/default-container": defaultContainer };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
      template: {
        metadata: { labels, ...(defaultContainer === undefined ? {} : { annotations }) },
        spec: {
          priorityClassName: "system-node-critical",
          tolerations: [{ operator: "Exists" }],
          nodeSelector: { "kubernetes.io/os": "linux" },
          automountServiceAccountToken: false,
          containers,
          volumes,
        },
      },
    },
  };
}

/** Where the pod begins in a DaemonSet, for comments. */
export const POD = "spec.template.spec";

/** A folder of the host. `Directory` where it must be there already: a pod that cannot start says so. */
export function hostPath(name: string, path: string, type: "Directory" | "DirectoryOrCreate" = "Directory") {
  return { name, hostPath: { path, type } };
}
