import { invalidOption } from "../base/errors";
import { flag, listOf, milliseconds, text } from "../options/option-kinds";
import { optional, readOptions, required } from "../options/read-options";
import { type ApiAccess, apiAccess } from "./api/access";
import { parseConditionType } from "./condition";
import { DRIVER_PLACEHOLDER } from "./driver-template";
import { parseStartupTaint, type StartupTaint } from "./startup-taint";

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
  /**
   * There may be several drivers: then each taint and the condition must name theirs. Default: true for the registrations
   * of a node-wide registrar.
   */
  readonly severalDrivers?: boolean | undefined;
}

/** Options with every default filled in. */
export interface ResolvedNodeReadinessOptions {
  readonly nodeName: string;
  readonly access: ApiAccess;
  readonly startupTaints: readonly StartupTaint[];
  readonly condition: string | undefined;
  readonly conditionDelayMs: number;
}

/** RFC 1123 subdomain, as every Node is called. */
const NODE_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Fills defaults and checks; throws INVALID_OPTION. */
export function resolveNodeReadinessOptions(
  options: NodeReadinessOptions,
  isNodeWide = false,
): ResolvedNodeReadinessOptions {
  const { severalDrivers, startupTaints, condition, ...given } = readOptions("startNodeReadiness", options, {
    nodeName: required(text),
    access: required(apiAccess),
    startupTaints: optional(listOf(text), []),
    condition: optional(text),
    conditionDelayMs: optional(milliseconds({ orZero: true }), 30_000),
    severalDrivers: optional(flag, isNodeWide),
  });
  if (!NODE_NAME.test(given.nodeName))
    throw invalidOption(`node name ${JSON.stringify(given.nodeName)} can be no Node's`);
  return { ...given, ...parseTargets({ startupTaints, condition, severalDrivers }) };
}

/** Checks what to write to the Node, as far as possible without the Node. Throws INVALID_OPTION. */
export function parseTargets(given: {
  readonly startupTaints: readonly string[];
  readonly condition: string | undefined;
  readonly severalDrivers: boolean;
}): Pick<ResolvedNodeReadinessOptions, "startupTaints" | "condition"> {
  const startupTaints = given.startupTaints.map(parseStartupTaint);
  const condition = given.condition === undefined ? undefined : parseConditionType(given.condition);
  if (given.severalDrivers) requireDriverPlaceholder(given.startupTaints, given.condition);
  return { startupTaints, condition };
}

/** Throws INVALID_OPTION for what would be one taint or condition for several drivers. */
export function requireDriverPlaceholder(
  startupTaints: readonly string[],
  condition: string | undefined,
): void {
  const refuse = (what: string, text: string, example: string) => {
    throw invalidOption(
      `${what} ${JSON.stringify(text)} is one for several drivers: write ${DRIVER_PLACEHOLDER} for the driver's name, ` +
        `as in ${DRIVER_PLACEHOLDER}/${example}`,
    );
  };
  const taint = startupTaints.find((text) => !text.includes(DRIVER_PLACEHOLDER));
  if (taint !== undefined) refuse("startup taint", taint, "agent-not-ready");
  if (condition?.includes(DRIVER_PLACEHOLDER) === false) refuse("node condition", condition, "Registered");
}
