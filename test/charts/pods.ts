import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What a public chart or manifest deploys with a registrar. A chart was rendered by `helm template` with its defaults, or
 * with `values` as `--set`; a row keeps the facts: each container's image, arguments, environment, ports, probes, mounts and
 * limits, the pod's volumes and nodes.
 */
export interface PodsRow {
  readonly project: string;
  /** The chart's folder or the manifest's file in the project's repository. */
  readonly path: string;
  /** The commit. */
  readonly version: string;
  readonly values?: string;
  /** `CODE STATUS CONTAINER` of what doctor says, except ok: each was looked at, and is true. */
  readonly findings: readonly string[];
  /** The same of what `--swap` says; none where no container is the official registrar's for Linux. */
  readonly swapped: readonly string[];
  readonly workloads: readonly Workload[];
}

export interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: Template } };
}

export interface Template {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccount?: string;
  readonly serviceAccountName?: string;
}

export interface Container extends Readonly<Record<"name" | "image", string>> {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly object[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources?: object;
  readonly livenessProbe?: {
    readonly exec?: { readonly command: readonly string[] };
    readonly httpGet?: { readonly path: string };
  };
}

export const PODS: readonly PodsRow[] = JSON.parse(readFileSync(join(__dirname, "pods.json"), "utf8"));
