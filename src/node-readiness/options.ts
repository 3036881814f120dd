import { RegistrarError } from "../errors";
import type { ApiAccess } from "./api/access";
import { parseConditionType } from "./condition";
import { CSI_NODE_PACE, type CsiNodePace } from "./csi-node-keeper";
import { WATCH_PACE, type WatchPace } from "./node-watch";
import { DRIVER_PLACEHOLDER, parseStartupTaint, type StartupTaint } from "./startup-taint";
import { TAINT_PACE, type TaintPace } from "./taint-keeper";

/** What a node's readiness is made of. */
export interface NodeReadinessOptions {
  /** The name of the Node object of this node. */
  readonly nodeName: string;
  /** How to reach the API server: `inClusterAccess`, `accessFromKubeconfig`. */
  readonly access: ApiAccess;
  /**
   * Taints to remove once kubelet has registered the driver, each as `KEY` or `KEY:Effect`; `{driver}` stands for its
   * name. Default: none.
   */
  readonly startupTaints?: readonly string[] | undefined;
  /** Type of the condition to keep in the Node's status; `{driver}` stands for the driver's name. Default: none. */
  readonly condition?: string | undefined;
  /** A driver must be unregistered for so long before the condition says so. Milliseconds. Default 30,000. */
  readonly conditionDelayMs?: number | undefined;
  /** There may be several drivers: then each taint and the condition must name theirs. Default false. */
  readonly severalDrivers?: boolean | undefined;
  /** How patient it is. Defaults: see there. */
  readonly pace?:
    | {
        readonly watch?: WatchPace | undefined;
        readonly taint?: TaintPace | undefined;
        readonly csiNode?: CsiNodePace | undefined;
      }
    | undefined;
}

/** Options with every default filled in. */
export interface ResolvedNodeReadinessOptions {
  readonly nodeName: string;
  readonly access: ApiAccess;
  readonly startupTaints: readonly StartupTaint[];
  readonly condition: string | undefined;
  readonly conditionDelayMs: number;
  readonly pace: { readonly watch: WatchPace; readonly taint: TaintPace; readonly csiNode: CsiNodePace };
}

/** RFC 1123 subdomain, as every Node is called. */
const NODE_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Fills defaults and checks; throws INVALID_OPTION. */
export function resolveNodeReadinessOptions(options: NodeReadinessOptions): ResolvedNodeReadinessOptions {
  const { nodeName, access, condition, conditionDelayMs = 30_000, severalDrivers = false } = options;
  if (!NODE_NAME.test(nodeName))
    throw new RegistrarError("INVALID_OPTION", `node name ${JSON.stringify(nodeName)} can be no Node's`);
  const texts = options.startupTaints ?? [];
  if (severalDrivers) requireDriverPlaceholder(texts, condition);
  return {
    nodeName,
    access,
    startupTaints: texts.map(parseStartupTaint),
    condition: condition === undefined ? undefined : parseConditionType(condition),
    conditionDelayMs,
    pace: {
      watch: options.pace?.watch ?? WATCH_PACE,
      taint: options.pace?.taint ?? TAINT_PACE,
      csiNode: options.pace?.csiNode ?? CSI_NODE_PACE,
    },
  };
}

/** Throws INVALID_OPTION for what would be one taint or condition for several drivers. */
export function requireDriverPlaceholder(
  startupTaints: readonly string[],
  condition: string | undefined,
): void {
  for (const text of condition === undefined ? startupTaints : [...startupTaints, condition])
    if (!text.includes(DRIVER_PLACEHOLDER))
      throw new RegistrarError(
        "INVALID_OPTION",
        `${JSON.stringify(text)} is one for several drivers: write ${DRIVER_PLACEHOLDER} for the driver's name, ` +
          `as in ${DRIVER_PLACEHOLDER}/agent-not-ready`,
      );
}
