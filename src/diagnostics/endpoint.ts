import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";

export type ListenAddress = ReturnType<typeof parseListenAddress>;

/**
 * Reads an address as Go's net.Listen takes it: `:8080`, `localhost:9809`, `[::1]:9809`, `:`. Without a host it is all
 * interfaces, IPv6 and IPv4; port 0 is any free port. Throws INVALID_OPTION.
 */
export function parseListenAddress(text: string) {
  const parts = /^(?:\[(?<ipv6>[^\]]*)\]|(?<host>[^:[\]]*)):(?<port>\d*)$/.exec(text)?.groups;
  const port = Number(parts?.port);
  if (!parts || port > 65_535) {
    const wanted = "give host:port or :port, as in :9809, localhost:9809, [::1]:9809";
    throw invalidOption(`http-endpoint ${quoteText(text)} is not a listen address: ${wanted}`);
  }
  return { endpoint: text, host: parts.ipv6 || parts.host || undefined, port };
}

/** The paths of the HTTP endpoint besides that of the metrics. */
export const FIXED_PATHS = ["/healthz", "/livez", "/readyz", "/statusz"] as const;
export const PROFILE_PATHS = [
  "/debug/pprof/",
  "/debug/pprof/cmdline",
  "/debug/pprof/profile",
  "/debug/pprof/heap",
] as const;

/** Throws INVALID_OPTION for an invalid path of the metrics, or one that is served already. */
export function checkMetricsPath(path: string, { isProfiled }: { readonly isProfiled: boolean }): void {
  const taken: readonly string[] = [...FIXED_PATHS, ...(isProfiled ? PROFILE_PATHS : [])];
  const problem = !/^\/[^?#\s]*$/.test(path)
    ? "is not a path of a URL: it must begin with /, as /metrics does"
    : taken.includes(path) && `is served already: choose another path than ${taken.join(", ")}`;
  if (problem) throw invalidOption(`metrics-path ${quoteText(path)} ${problem}`);
}
