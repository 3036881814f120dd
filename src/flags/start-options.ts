import { checkMetricsPath, parseListenAddress } from "../diagnostics/endpoint";
import { directoryPath } from "../options/option-kinds";
import { OF_A_CSI_DRIVER, readCsiAddress } from "../registrar/model/options";
import { isNodeWide, nameListsFrom, type Paths, patternPairsOf } from "./paths";
import { checkKinds, type Flags } from "./table";

// What the flags ask for, each value checked and unpacked here and nowhere else. Each function throws INVALID_OPTION for
// values with which no registrar starts.

/** Why the official registrar ends before it looks at any other value; undefined if it does not. */
export const portsProblem = ({ healthPort, httpEndpoint }: Flags): string | undefined =>
  healthPort > 0 && httpEndpoint !== ""
    ? "Only one of `--health-port` and `--http-endpoint` can be set"
    : undefined;

/** Whether node readiness is loaded, which needs an API server. */
export function wantsNodeReadiness({ removeStartupTaint, nodeCondition }: Flags): boolean {
  return removeStartupTaint.length > 0 || nodeCondition !== "";
}

/** The HTTP endpoint; undefined for none. */
export function endpointOf({ healthPort, httpEndpoint, metricsPath, enablePprof }: Flags) {
  const endpoint = healthPort > 0 ? `:${healthPort}` : httpEndpoint;
  if (endpoint === "") return undefined;
  const http = parseListenAddress(endpoint);
  checkMetricsPath(metricsPath, { isProfiled: enablePprof });
  return http;
}

/** The options of one driver's registration, or of a node-wide registrar. */
export function registrationOf(
  flags: Flags,
  { endpoint, ...paths }: Pick<Paths, "endpoint" | "pluginRegistrationPath">,
) {
  checkKinds(flags);
  const { timeoutMs, reregisterOnDriverRestart, driverTimeoutMs, onRegistrationFailure } = flags;
  const pluginRegistrationPath = directoryPath.read(paths.pluginRegistrationPath, "plugin-registration-path");
  const common = { pluginRegistrationPath, timeoutMs, reregisterOnDriverRestart, onEvent: () => {} };
  if (isNodeWide(flags)) {
    const [pairs, names, { driverGoneAfterMs }] = [patternPairsOf(flags), nameListsFrom(flags), flags];
    return { kind: "node-wide", options: { ...common, pairs, names, driverGoneAfterMs } } as const;
  }
  const one = { ...readCsiAddress(flags.csiAddress), endpoint, driverTimeoutMs, onRegistrationFailure };
  return { kind: "one", options: { ...common, ...one, ...OF_A_CSI_DRIVER, isNodeWide: false } } as const;
}
