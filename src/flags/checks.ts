import { invalidOption } from "../base/errors";
import { LONGEST_WAIT_MS } from "../base/pause";
import { checkMetricsPath, parseListenAddress } from "../diagnostics/endpoint";
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

/**
 * Throws INVALID_OPTION for what the library would refuse later, where it would call durations milliseconds. The flags of node
 * readiness are checked where it is loaded.
 */
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

export function checkWait(flag: string, ms: number, hint = ""): void {
  if (!(ms >= 0)) throw invalidOption(`${flag} must not be negative`);
  if (ms > LONGEST_WAIT_MS) throw invalidOption(`${flag} must be 24 days at most${hint}`);
}
