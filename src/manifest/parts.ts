import { alertRules } from "./alert-rules";
import { csiDriver } from "./csi-driver";
import { daemonSet } from "./daemon-set";
import { inlinePod } from "./inline-pod";
import type { Manifest } from "./manifest";
import type { Part, ResolvedManifestOptions } from "./options";
import { podMonitor } from "./pod-monitor";
import { storageClass } from "./storage-class";

const MAKERS: Readonly<Record<Part, (options: ResolvedManifestOptions) => Manifest>> = {
  csidriver: csiDriver,
  daemonset: daemonSet,
  storageclass: storageClass,
  "inline-pod": inlinePod,
  podmonitor: podMonitor,
  alerts: alertRules,
};

/** The objects that the options ask for, in the order in which they are to be applied. */
export function makeManifests(options: ResolvedManifestOptions): readonly Manifest[] {
  return options.parts.map((part) => MAKERS[part](options));
}
