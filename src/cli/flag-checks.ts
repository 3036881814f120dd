import { parseListenAddress } from "../diagnostics/listen-address";
import { checkMetricsPath } from "../diagnostics/metrics-path";
import { messageOf } from "../errors";
import { type LoggingFlags, resolveLogging } from "../logging/logging-options";
import { pairPatterns } from "../registrar/node-wide/path-pattern";
import { resolveOptions } from "../registrar/options";
import { inFlags } from "./flag-words";
import type { Flags } from "./flags";
import { isNodeWide } from "./pattern-warnings";

/** The listen address that the flags ask for; undefined for no HTTP server. */
export function httpEndpointOf({ healthPort, httpEndpoint }: Flags): string | undefined {
  if (healthPort > 0) return `:${healthPort}`;
  return httpEndpoint === "" ? undefined : httpEndpoint;
}

export const BOTH_PORTS = "Only one of `--health-port` and `--http-endpoint` can be set";

/** Throws INVALID_OPTION for settings of the HTTP server with which the registrar does not start. */
export function checkHttpFlags(flags: Flags): void {
  const endpoint = httpEndpointOf(flags);
  if (endpoint === undefined) return;
  parseListenAddress(endpoint);
  checkMetricsPath(flags.metricsPath, { isProfiled: flags.enablePprof });
}

/**
 * Why the registrar would not start with these flags, by the checks that it makes itself; undefined where it would. Only
 * what it needs to be told is not asked for: doctor may be given less.
 */
export function startProblemOf(flags: Flags & LoggingFlags): string | undefined {
  const logging = resolveLogging(flags);
  if (logging.kind === "invalid") return `LoggingConfiguration is invalid: ${logging.error}`;
  if (flags.healthPort > 0 && flags.httpEndpoint !== "") return BOTH_PORTS;
  const kubeletRegistrationPath = flags.kubeletRegistrationPath || "/not-told";
  try {
    checkHttpFlags(flags);
    if (isNodeWide(flags)) {
      const { csiAddress, kubeletRegistrationPath: told } = flags.every;
      pairPatterns(csiAddress, told.length > 0 ? told : csiAddress);
    }
    const { csiAddress, pluginRegistrationPath, timeoutMs, driverTimeoutMs } = flags;
    resolveOptions({
      csiAddress,
      kubeletRegistrationPath,
      pluginRegistrationPath,
      timeoutMs,
      driverTimeoutMs,
    });
    return undefined;
  } catch (error) {
    return messageOf(inFlags(error));
  }
}
