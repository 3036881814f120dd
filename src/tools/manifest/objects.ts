import { nameListsFrom } from "../../flags/paths";
import { parseTargets } from "../../node-readiness/options";
import { allowedNames } from "../../registrar/node-wide/name-lists";
import { nodePlugin, nodeWideDaemonSet } from "./daemon-sets";
import { nodeAccess, sccBinding, serviceAccount } from "./node-access";
import { type ManifestOptions, resolveBasics, resolveManifestOptions } from "./options";
import { streamOf } from "./template";

/**
 * Writes the DaemonSet of a driver, or of one registrar for every driver of a node, and what its pods need, in the order in which
 * to apply them. Throws INVALID_OPTION.
 */
export function makeManifests(options: ManifestOptions): string {
  const { nodeWide: severalDrivers = false, allowDrivers, nodes, startupTaint: startupTaints = [] } = options;
  const resolved = severalDrivers
    ? { ...resolveBasics(options, "csi-registrar"), allowDrivers, nodes }
    : resolveManifestOptions(options);
  const drivers =
    "driverName" in resolved ? [resolved.driverName] : allowedNames(nameListsFrom({ allowDrivers }));
  const targets = parseTargets({ startupTaints, condition: options.nodeCondition, severalDrivers });
  const isWanted = startupTaints.length > 0 || options.nodeCondition !== undefined;
  const access = isWanted ? nodeAccess(resolved, { ...targets, drivers }) : undefined;
  const admission = resolved.distribution === "openshift" ? [sccBinding(resolved)] : [];
  const account = admission.length > 0 || access ? [serviceAccount(resolved)] : [];
  const daemonSet =
    "driverName" in resolved ? nodePlugin(resolved, access) : nodeWideDaemonSet(resolved, access);
  return streamOf([...account, ...admission, ...(access?.before ?? []), daemonSet]);
}
