import { invalidOption, messageOf } from "../base/errors";
import { LONGEST_WAIT_MS } from "../base/pause";
import { checkMetricsPath, parseListenAddress } from "../diagnostics/endpoint";
import type { Environment } from "../kube-api/access";
import { resolveLogging } from "../logging/logging-options";
import { NODE_NAME_VARIABLES, parseTargets } from "../node-readiness/options";
import { directoryPath } from "../options/option-kinds";
import { csiAddressKind } from "../registrar/model/options";
import { parseCsiAddress } from "../unix/socket-path";
import { isNodeWide, nameListsFrom, patternPairsOf, patternsOf } from "./paths";
import type { Flags } from "./table";

export function httpEndpointOf({ healthPort, httpEndpoint }: Flags): string | undefined {
  if (healthPort > 0) return `:${healthPort}`;
  return httpEndpoint === "" ? undefined : httpEndpoint;
}

export const BOTH_PORTS = "Only one of `--health-port` and `--http-endpoint` can be set";

/** Whether node readiness is loaded, which needs an API server. */
export function wantsNodeReadiness({ removeStartupTaint, nodeCondition }: Flags): boolean {
  return removeStartupTaint.length > 0 || nodeCondition !== "";
}

export function nodeReadinessTargetsOf(flags: Pick<Flags, "removeStartupTaint" | "nodeCondition">) {
  return {
    startupTaints: flags.removeStartupTaint,
    condition: flags.nodeCondition === "" ? undefined : flags.nodeCondition,
  };
}

/** Throws INVALID_OPTION for what the library would refuse later, where it would call durations milliseconds. */
export function checkFlags(flags: Flags): void {
  const endpoint = httpEndpointOf(flags);
  if (endpoint !== undefined) {
    parseListenAddress(endpoint);
    checkMetricsPath(flags.metricsPath, { isProfiled: flags.enablePprof });
  }
  if (!(flags.timeoutMs > 0)) throw invalidOption("timeout must be more than 0: no call could ever succeed");
  checkWait("timeout", flags.timeoutMs);
  checkWait("driver-timeout", flags.driverTimeoutMs, "; 0 is no limit");
  if (isNodeWide(flags)) checkWait("driver-gone-after", flags.driverGoneAfterMs);
  if (wantsNodeReadiness(flags)) checkWait("node-condition-delay", flags.nodeConditionDelayMs);
  parseTargets({ ...nodeReadinessTargetsOf(flags), severalDrivers: isNodeWide(flags) });
}

/** Throws INVALID_OPTION for paths and name lists with which no registrar starts. */
export function checkPaths(flags: Flags): void {
  const nodeWide = isNodeWide(flags);
  if (nodeWide) {
    patternPairsOf(flags);
    nameListsFrom(flags);
  }
  for (const address of nodeWide ? patternsOf(flags).csiAddresses : [flags.csiAddress])
    csiAddressKind.read(parseCsiAddress(address), "csi-address");
  directoryPath.read(flags.pluginRegistrationPath, "plugin-registration-path");
}

function checkWait(flag: string, ms: number, hint = ""): void {
  if (!(ms >= 0)) throw invalidOption(`${flag} must not be negative`);
  if (ms > LONGEST_WAIT_MS) throw invalidOption(`${flag} must be 24 days at most${hint}`);
}

/** Why the registrar would not start with these flags; undefined if it would. Required ones may be missing. */
export function startProblemOf(flags: Flags): string | undefined {
  const logging = resolveLogging(flags);
  if (logging.kind === "invalid") return `LoggingConfiguration is invalid: ${logging.error}`;
  if (flags.healthPort > 0 && flags.httpEndpoint !== "") return BOTH_PORTS;
  try {
    checkFlags(flags);
    checkPaths(flags);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** The node that the flag names, or the environment. Throws INVALID_OPTION without either. */
export function nodeNameFrom(flag: string, environment: Environment): string {
  const name = flag || NODE_NAME_VARIABLES.map((variable) => environment[variable]).find(Boolean);
  if (name) return name;
  throw invalidOption(
    "--remove-startup-taint and --node-condition need the node's name: give --node-name, or set NODE_NAME from " +
      "fieldRef spec.nodeName",
  );
}
