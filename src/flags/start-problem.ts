import { messageOf } from "../base/errors";
import { resolveLogging } from "../logging/logging-options";
import { BOTH_PORTS, checkFlags, checkPaths, wantsNodeReadiness } from "./checks";
import { nodeReadinessOptionsOf } from "./node-readiness";
import type { Flags } from "./table";

/** Why the registrar would not start with these flags; undefined if it would. Required ones may be missing. */
export function startProblemOf(flags: Flags): string | undefined {
  const logging = resolveLogging(flags);
  if (logging.kind === "invalid") return `LoggingConfiguration is invalid: ${logging.error}`;
  if (flags.healthPort > 0 && flags.httpEndpoint !== "") return BOTH_PORTS;
  try {
    checkFlags(flags);
    if (wantsNodeReadiness(flags)) nodeReadinessOptionsOf(flags);
    checkPaths(flags);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
