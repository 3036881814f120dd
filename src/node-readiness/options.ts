import { invalidOption } from "../base/errors";
import { type ApiAccess, apiAccess } from "../kube-api/access";
import { isSubdomain } from "../kubelet-rules/api-validation";
import { quoteText } from "../logging/escape";
import { kindOf, listOf, milliseconds, textKind } from "../options/option-kinds";
import { optional, readOptions, required } from "../options/read-options";
import { START_OPTIONS, type StartOptions } from "../options/start-options";
import type { Registration } from "../registrar/registration/registration";
import type { Registrations } from "../registrar/registration/registrations";
import { parseConditionType } from "./condition";
import { DRIVER_PLACEHOLDER } from "./driver-template";
import { observeRegistrations } from "./observed-registrations";
import { parseStartupTaint } from "./startup-taint";

/** The variables in which charts pass the name of the pod's node; the first that is set counts. */
export const NODE_NAME_VARIABLES = ["NODE_NAME", "KUBE_NODE_NAME"];

/** The options of a node's readiness. */
export interface NodeReadinessOptions extends StartOptions {
  /** The registrations to keep the node in step with: one, or those of a node-wide registrar. */
  readonly registrations: Registration | Registrations;
  /** The name of the Node object of this node. */
  readonly nodeName: string;
  /** How to reach the API server: `inClusterAccess`, `accessFromKubeconfig`. */
  readonly access: ApiAccess;
  /** Taints to remove once kubelet has registered the driver: `KEY` or `KEY:Effect`, with its name for `{driver}`. @default none */
  readonly startupTaints?: readonly string[] | undefined;
  /** Type of the condition to keep in the Node's status, with the driver's name for `{driver}`. @default none */
  readonly condition?: string | undefined;
  /** How long a driver must be unregistered before the condition says so, in milliseconds. @default 30000 */
  readonly conditionDelayMs?: number | undefined;
}

const registrations = kindOf("a registration or a node-wide registrar, awaited", (given) =>
  observeRegistrations(given as Registration | Registrations),
);

/** Fills defaults and checks; throws INVALID_OPTION. */
export function resolveNodeReadinessOptions(options: NodeReadinessOptions) {
  const { startupTaints, condition, ...given } = readOptions("startNodeReadiness", options, {
    registrations: required(registrations),
    nodeName: required(textKind),
    access: required(apiAccess),
    startupTaints: optional(listOf(textKind), []),
    condition: optional(textKind),
    conditionDelayMs: optional(milliseconds({ orZero: true }), 30_000),
    ...START_OPTIONS,
  });
  const severalDrivers = given.registrations.scope === "node-wide";
  parseNodeName(given.nodeName);
  return { ...given, ...parseTargets({ startupTaints, condition, severalDrivers }) };
}

/** Returns the name. Throws INVALID_OPTION for one that no Node has. */
export function parseNodeName(name: string): string {
  if (isSubdomain(name)) return name;
  throw invalidOption(`node name ${quoteText(name)} is not a valid name of a Node`);
}

/** Checks the taints and the condition, without the API server. Throws INVALID_OPTION. */
export function parseTargets(given: {
  readonly startupTaints: readonly string[];
  readonly condition?: string | undefined;
  readonly severalDrivers: boolean;
}) {
  const startupTaints = given.startupTaints.map(parseStartupTaint);
  const condition = given.condition === undefined ? undefined : parseConditionType(given.condition);
  const texts = given.severalDrivers ? [...given.startupTaints, ...(condition ? [condition] : [])] : [];
  const same = texts.find((text) => !text.includes(DRIVER_PLACEHOLDER));
  if (same === undefined) return { startupTaints, condition };
  const advice = `write ${DRIVER_PLACEHOLDER}, which stands for the driver's name`;
  throw invalidOption(`${quoteText(same)} would be the same for several drivers: ${advice}`);
}
