import { nameListsFrom } from "../../flags/paths";
import { parseTargets } from "../../node-readiness/options";
import { allowedNames } from "../../registrar/node-wide/name-lists";
import { nodePlugin, nodeWideDaemonSet } from "./daemon-sets";
import { type NodeAccess, nodeAccess, sccBinding, serviceAccount } from "./node-access";
import {
  type BasicOptions,
  type ManifestOptions,
  type ResolvedBasics,
  resolveBasics,
  resolveManifestOptions,
} from "./options";
import { streamOf, type Yaml } from "./template";

/** Writes a driver's DaemonSet and what its pods need, in the order in which to apply them. Throws INVALID_OPTION. */
export function makeManifests(options: ManifestOptions): string {
  const resolved = resolveManifestOptions(options);
  const access = accessOf(resolved, options, [options.driverName], false);
  return write(resolved, nodePlugin(resolved, access), access);
}

/** The same for one registrar that serves every driver of a node. Throws INVALID_OPTION. */
export function makeNodeWideManifests(options: BasicOptions): string {
  const { allowDrivers, nodes } = options;
  const basics = { ...resolveBasics(options, "csi-registrar"), allowDrivers, nodes };
  const access = accessOf(basics, options, allowedNames(nameListsFrom({ allowDrivers })), true);
  return write(basics, nodeWideDaemonSet(basics, access), access);
}

function accessOf(
  basics: ResolvedBasics,
  { startupTaint = [], nodeCondition }: BasicOptions,
  drivers: readonly string[] | undefined,
  severalDrivers: boolean,
): NodeAccess | undefined {
  const targets = parseTargets({ startupTaints: startupTaint, condition: nodeCondition, severalDrivers });
  const isWanted = startupTaint.length > 0 || nodeCondition !== undefined;
  return isWanted ? nodeAccess(basics, { ...targets, drivers }) : undefined;
}

function write(options: ResolvedBasics, daemonSet: Yaml, access: NodeAccess | undefined): string {
  const admission = options.distribution === "openshift" ? [sccBinding(options)] : [];
  const account = admission.length > 0 || access ? [serviceAccount(options)] : [];
  return streamOf([...account, ...admission, ...(access?.before ?? []), daemonSet]);
}
