import { invalidOption } from "../../base/errors";
import { nodePlugin, nodeWideDaemonSet } from "./daemon-sets";
import { checkNodes } from "./names";
import {
  type NodeAccess,
  type NodeAccessOptions,
  nodeAccess,
  sccBinding,
  serviceAccount,
} from "./node-access";
import { isNodeWidePart, PARTS, type Part } from "./object-flags";
import { csiDriver, ownNamespace } from "./objects";
import {
  type NodeWideOptions,
  type ResolvedBasics,
  type ResolvedManifestOptions,
  resolveBasics,
} from "./options";
import { streamOf, type Yaml } from "./template";

type Make = (part: Part, access: NodeAccess | undefined) => Yaml;

const MAKERS = { namespace: ownNamespace, csidriver: csiDriver, daemonset: nodePlugin } as const;

/** Writes the chosen objects as YAML, in the order in which to apply them. Throws INVALID_OPTION. */
export function makeManifests(options: ResolvedManifestOptions, access?: NodeAccessOptions): string {
  return write(options, options.parts, (part, ofPods) => MAKERS[part](options, ofPods), access);
}

/** The same for one registrar that serves every driver of a node. Throws INVALID_OPTION. */
export function makeNodeWideManifests(
  { allowDrivers, nodes, ...options }: NodeWideOptions,
  parts: readonly Part[] = ["daemonset"],
  access?: NodeAccessOptions,
): string {
  if (nodes !== undefined) checkNodes(nodes, "daemonset");
  const basics = { ...resolveBasics(options, "csi-registrar", parts), allowDrivers, nodes };
  const make: Make = (part, ofPods) => {
    if (part === "namespace") return ownNamespace(basics);
    if (part === "daemonset") return nodeWideDaemonSet(basics, ofPods);
    const known = PARTS.filter(isNodeWidePart).join(", ");
    throw invalidOption(`--include ${part} is for a single driver; with --node-wide there are ${known}`);
  };
  const chosen = PARTS.filter((part) => parts.includes(part));
  return write(basics, chosen, make, access);
}

/** Without the DaemonSet, the objects that its pods need are left out too. */
function write(
  options: ResolvedBasics,
  parts: readonly Part[],
  make: Make,
  wanted: NodeAccessOptions | undefined,
): string {
  const hasPods = parts.includes("daemonset");
  const access = wanted && hasPods ? nodeAccess(options, wanted) : undefined;
  const documents = parts.map((part) => make(part, access));
  const admission = hasPods && options.distribution === "openshift" ? [sccBinding(options)] : [];
  const account = admission.length > 0 || access ? [serviceAccount(options)] : [];
  const namespace = documents.splice(0, parts.includes("namespace") ? 1 : 0);
  return streamOf([...namespace, ...account, ...admission, ...(access?.before ?? []), ...documents]);
}
