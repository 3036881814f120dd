import { alertRules } from "./alert-rules";
import { csiDriver } from "./csi-driver-kind";
import { inlinePod } from "./inline-pod";
import type { Manifest } from "./manifest";
import { nodePlugin } from "./node-plugin";
import { type NodeWideOptions, nodeWideDaemonSet, resolveNodeWide } from "./node-wide";
import { PARTS, type Part, type ResolvedBasics, type ResolvedManifestOptions, refusePart } from "./options";
import { podMonitor } from "./pod-monitor";
import { storageClass } from "./storage-class";

const MAKERS: Readonly<Record<Part, (options: ResolvedManifestOptions) => Manifest>> = {
  csidriver: csiDriver,
  daemonset: nodePlugin,
  storageclass: storageClass,
  "inline-pod": inlinePod,
  podmonitor: podMonitor,
  alerts: alertRules,
};

/** The objects that the options ask for, in the order in which they are to be applied. */
export function makeManifests(options: ResolvedManifestOptions): readonly Manifest[] {
  return options.parts.map((part) => MAKERS[part](options));
}

/** Those parts that have nothing of a single driver. */
const NODE_WIDE_MAKERS: Readonly<
  Partial<Record<Part, (options: ResolvedBasics & NodeWideOptions) => Manifest>>
> = {
  daemonset: nodeWideDaemonSet,
  podmonitor: podMonitor,
  alerts: alertRules,
};

/** The same for one registrar that serves every driver of a node. Throws INVALID_OPTION. */
export function makeNodeWideManifests(
  options: NodeWideOptions,
  parts: readonly Part[] = ["daemonset"],
): readonly Manifest[] {
  const basics = { ...resolveNodeWide(options), allowDrivers: options.allowDrivers };
  return PARTS.filter((part) => parts.includes(part)).map((part) => {
    const make = NODE_WIDE_MAKERS[part] ?? refusePart(part, Object.keys(NODE_WIDE_MAKERS));
    return make(basics);
  });
}
