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
import { csiDriver, ownNamespace } from "./objects";
import {
  type NodeWideOptions,
  PARTS,
  type Part,
  type ResolvedBasics,
  type ResolvedManifestOptions,
  resolveBasics,
} from "./options";
import { streamOf, type Yaml } from "./template";

type Maker<Options> = (options: Options, access?: NodeAccess) => Yaml;

const MAKERS: Readonly<Record<Part, Maker<ResolvedManifestOptions>>> = {
  namespace: ownNamespace,
  csidriver: csiDriver,
  daemonset: nodePlugin,
};

const NODE_WIDE_MAKERS: Readonly<Partial<Record<Part, Maker<ResolvedBasics>>>> = {
  namespace: ownNamespace,
  daemonset: nodeWideDaemonSet,
};

export const isNodeWidePart = (part: Part): boolean => Object.hasOwn(NODE_WIDE_MAKERS, part);

/** Writes the chosen objects as YAML, in the order in which to apply them. Throws INVALID_OPTION. */
export function makeManifests(options: ResolvedManifestOptions, access?: NodeAccessOptions): string {
  return write(options, options.parts, MAKERS, access);
}

/** The same for one registrar that serves every driver of a node. Throws INVALID_OPTION. */
export function makeNodeWideManifests(
  { allowDrivers, nodes, ...options }: NodeWideOptions,
  parts: readonly Part[] = ["daemonset"],
  access?: NodeAccessOptions,
): string {
  if (nodes !== undefined) checkNodes(nodes, "daemonset");
  const basics = { ...resolveBasics(options, "csi-registrar", parts), allowDrivers, nodes };
  const chosen = PARTS.filter((part) => parts.includes(part));
  return write(basics, chosen, NODE_WIDE_MAKERS, access);
}

/** Without the DaemonSet, the objects that its pods need are left out too. */
function write<Options extends ResolvedBasics>(
  options: Options,
  parts: readonly Part[],
  makers: Readonly<Partial<Record<Part, Maker<Options>>>>,
  wanted: NodeAccessOptions | undefined,
): string {
  const hasPods = parts.includes("daemonset");
  const access = wanted && hasPods ? nodeAccess(options, wanted) : undefined;
  const documents = parts.map((part) => {
    const make = makers[part];
    if (make !== undefined) return make(options, access);
    const known = PARTS.filter(isNodeWidePart).join(", ");
    throw invalidOption(`--include ${part} is for a single driver; with --node-wide there are ${known}`);
  });
  const admission = hasPods && options.distribution === "openshift" ? [sccBinding(options)] : [];
  const account = admission.length > 0 || access ? [serviceAccount(options)] : [];
  const namespace = documents.splice(0, parts.includes("namespace") ? 1 : 0);
  return streamOf([...namespace, ...account, ...admission, ...(access?.before ?? []), ...documents]);
}
