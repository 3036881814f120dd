import { resolve } from "node:path";
import { RegistrarError } from "../errors";
import { KUBELET_BACKOFF } from "./backoff";
import type { KubeletFault } from "./kubelet-faults";
import { KUBELET_VERSIONS, type KubeletVersion } from "./versions";

/** How to simulate a kubelet. */
export interface KubeletOptions {
  /** The plugin registration directory to watch; created if it is missing. */
  readonly pluginDir: string;
  /** Default `node-1`. */
  readonly nodeName?: string;
  /** Labels that the Node has from the start. Default: its host name. */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** Which kubelet to simulate. Default `1.36`. */
  readonly version?: KubeletVersion;
  /** What goes wrong on request. Default: nothing. */
  readonly faults?: readonly KubeletFault[];
  /** Milliseconds between two rounds of its loop. Default 1,000, as kubelet's. */
  readonly reconcilePeriodMs?: number;
  /** Kubelet's other times, for tests that cannot wait as long. Default: kubelet's. */
  readonly timings?: Partial<Omit<KubeletTimings, "reconcilePeriodMs">>;
}

/** Kubelet's times, in milliseconds. */
export interface KubeletTimings {
  /** `loopSleepDuration` in `plugin_manager.go`. */
  readonly reconcilePeriodMs: number;
  /** `dialTimeoutDuration` in `operation_generator.go`. */
  readonly dialMs: number;
  /** A second, in `operation_generator.go`. */
  readonly getInfoMs: number;
  /** `notifyTimeoutDuration` in `operation_generator.go`. */
  readonly notifyMs: number;
  /** `csiTimeout` in `csi_plugin.go`. */
  readonly nodeGetInfoMs: number;
  /** The wait after a first failure. */
  readonly backoffInitialMs: number;
  /** The longest wait. */
  readonly backoffMaxMs: number;
}

export const KUBELET_TIMINGS: KubeletTimings = {
  reconcilePeriodMs: 1000,
  dialMs: 10_000,
  getInfoMs: 1000,
  notifyMs: 5000,
  nodeGetInfoMs: 120_000,
  backoffInitialMs: KUBELET_BACKOFF.initialMs,
  backoffMaxMs: KUBELET_BACKOFF.maxMs,
};

/** Options with every default filled in. */
export interface ResolvedKubeletOptions {
  readonly pluginDir: string;
  readonly nodeName: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly version: KubeletVersion;
  readonly faults: readonly KubeletFault[];
  readonly timings: KubeletTimings;
}

/** Fills defaults and checks; throws INVALID_OPTION. */
export function resolveKubeletOptions(options: KubeletOptions): ResolvedKubeletOptions {
  const { pluginDir, nodeName = "node-1", version = "1.36" } = options;
  if (pluginDir === "") throw new RegistrarError("INVALID_OPTION", "pluginDir is empty");
  if (!KUBELET_VERSIONS.includes(version)) {
    const known = KUBELET_VERSIONS.join(", ");
    throw new RegistrarError(
      "INVALID_OPTION",
      `kubelet version "${version}" is not simulated; there are ${known}`,
    );
  }
  const period = options.reconcilePeriodMs ?? KUBELET_TIMINGS.reconcilePeriodMs;
  const timings = { ...KUBELET_TIMINGS, ...options.timings, reconcilePeriodMs: period };
  for (const [name, value] of Object.entries(timings)) {
    if (!(value > 0 && value < 2 ** 31)) {
      throw new RegistrarError(
        "INVALID_OPTION",
        `${name} is ${value}; it must be a number of milliseconds above 0`,
      );
    }
  }
  return {
    pluginDir: resolve(pluginDir),
    nodeName,
    nodeLabels: options.nodeLabels ?? { "kubernetes.io/hostname": nodeName },
    version,
    faults: options.faults ?? [],
    timings,
  };
}
