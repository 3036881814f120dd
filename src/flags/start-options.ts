import { invalidOption } from "../base/errors";
import { checkMetricsPath, parseListenAddress } from "../diagnostics/endpoint";
import { directoryPath } from "../options/option-kinds";
import { csiAddressKind } from "../registrar/model/options";
import { parseCsiAddress } from "../unix/socket-path";
import { isNodeWide, nameListsFrom, patternPairsOf, patternsOf } from "./paths";
import { checkKinds, type Flags } from "./table";

export const BOTH_PORTS = "Only one of `--health-port` and `--http-endpoint` can be set";

/** Whether node readiness is loaded, which needs an API server. */
export function wantsNodeReadiness({ removeStartupTaint, nodeCondition }: Flags): boolean {
  return removeStartupTaint.length > 0 || nodeCondition !== "";
}

/**
 * The HTTP endpoint that the flags ask for. Throws INVALID_OPTION for values with which no registrar starts; those of node
 * readiness are checked where it is loaded.
 */
export function endpointOf(flags: Flags) {
  const { healthPort, httpEndpoint } = flags;
  if (healthPort > 0 && httpEndpoint !== "") throw invalidOption(BOTH_PORTS);
  const endpoint = healthPort > 0 ? `:${healthPort}` : httpEndpoint;
  const http = endpoint === "" ? undefined : { endpoint, ...parseListenAddress(endpoint) };
  if (http) checkMetricsPath(flags.metricsPath, { isProfiled: flags.enablePprof });
  checkKinds(flags);
  checkPaths(flags);
  return http;
}

function checkPaths(flags: Flags): void {
  const nodeWide = isNodeWide(flags);
  if (nodeWide) {
    patternPairsOf(flags);
    nameListsFrom(flags);
  }
  for (const address of nodeWide ? patternsOf(flags).csiAddresses : [flags.csiAddress])
    csiAddressKind.read(parseCsiAddress(address), "csi-address");
  directoryPath.read(flags.pluginRegistrationPath, "plugin-registration-path");
}
