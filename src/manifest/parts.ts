import { alertRules } from "./alert-rules";
import { type NodeAccess, type NodeAccessOptions, nodeAccess } from "./node-access";
import { nodePlugin } from "./node-plugin";
import { nodeWideDaemonSet } from "./node-wide";
import { csiDriver, inlinePod, podMonitor, storageClass } from "./objects";
import {
  type NodeWideOptions,
  PARTS,
  type Part,
  type ResolvedBasics,
  type ResolvedManifestOptions,
  refusePart,
  resolveBasics,
} from "./options";
import { streamOf, type Yaml } from "./template";

type Maker<Options> = (options: Options, access?: NodeAccess) => Yaml;

const MAKERS: Readonly<Record<Part, Maker<ResolvedManifestOptions>>> = {
  csidriver: csiDriver,
  daemonset: nodePlugin,
  storageclass: storageClass,
  "inline-pod": inlinePod,
  podmonitor: podMonitor,
  alerts: alertRules,
};

/** The YAML of the objects that the options ask for, in the order in which they are to be applied. Throws INVALID_OPTION. */
export function makeManifests(options: ResolvedManifestOptions, access?: NodeAccessOptions): string {
  return write(options, options.parts, MAKERS, access);
}

/** Those parts that have nothing of a single driver. */
const NODE_WIDE_MAKERS: Readonly<Partial<Record<Part, Maker<ResolvedBasics>>>> = {
  daemonset: nodeWideDaemonSet,
  podmonitor: podMonitor,
  alerts: alertRules,
};

/** The same for one registrar that serves every driver of a node. Throws INVALID_OPTION. */
export function makeNodeWideManifests(
  { allowDrivers, ...options }: NodeWideOptions,
  parts: readonly Part[] = ["daemonset"],
  access?: NodeAccessOptions,
): string {
  const basics = { ...resolveBasics(options, "csi-registrar"), allowDrivers };
  return write(
    basics,
    PARTS.filter((part) => parts.includes(part)),
    NODE_WIDE_MAKERS,
    access,
  );
}

/** What gives access to the API server goes with the DaemonSet, and is left out without it. */
function write<Options extends ResolvedBasics>(
  options: Options,
  parts: readonly Part[],
  makers: Readonly<Partial<Record<Part, Maker<Options>>>>,
  wanted: NodeAccessOptions | undefined,
): string {
  const access = wanted && parts.includes("daemonset") ? nodeAccess(options, wanted) : undefined;
  const documents = parts.map((part) => {
    const make = makers[part] ?? refusePart(part, Object.keys(makers));
    return make(options, access);
  });
  return streamOf([...(access?.before ?? []), ...documents, ...(access?.after ?? [])]);
}
