import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";

/** The paths of the HTTP endpoint besides that of the metrics. */
export const FIXED_PATHS = ["/healthz", "/livez", "/readyz", "/statusz"] as const;
/** Those of `--enable-pprof`. */
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
