import { isPattern } from "../host-path/path-pattern";
import type { Logger } from "../logging/logger";
import type { FlagName, Flags } from "./flags";

/** The flags that have no effect without a `*` in the paths, and those that have none with one. */
const FOR_PATTERNS: readonly FlagName[] = ["driver-gone-after", "allow-drivers", "deny-drivers"];
const FOR_ONE_DRIVER: readonly FlagName[] = ["driver-timeout", "on-registration-failure"];
/** Special in a shell, ordinary characters here. */
const LOOKS_SPECIAL = /[?[{]/;

/** Whether the paths are for every driver of a node. */
export function isNodeWide({ every }: Pick<Flags, "every">): boolean {
  return [...every.csiAddress, ...every.kubeletRegistrationPath].some(isPattern);
}

/** The patterns of the drivers' sockets, and what kubelet is told for each: the same where nothing else is given. */
export function patternsOf({ every: { csiAddress, kubeletRegistrationPath } }: Pick<Flags, "every">) {
  const told = kubeletRegistrationPath.length > 0 ? kubeletRegistrationPath : csiAddress;
  return { csiAddresses: csiAddress, kubeletRegistrationPaths: told };
}

/** Warns if a path with or without `*` may not do what its author expects. Never exits. */
export function warnAboutPatterns(flags: Flags, parentLog: Logger): void {
  const log = parentLog.named("pattern-warnings");
  const { csiAddress, kubeletRegistrationPath } = flags.every;
  const nodeWide = isNodeWide(flags);
  for (const path of new Set([...csiAddress, ...kubeletRegistrationPath]))
    if (LOOKS_SPECIAL.test(path))
      log.warn("Only * is special in a path, all else is taken as it is", { path });
  const without = (nodeWide ? FOR_ONE_DRIVER : FOR_PATTERNS).filter((flag) => flags.given.has(flag));
  if (without.length > 0)
    log.warn(`Flags have no effect ${nodeWide ? "with" : "without"} * in the paths`, {
      flags: without.map((flag) => `--${flag}`).join(" "),
    });
  if (!nodeWide && (csiAddress.length > 1 || kubeletRegistrationPath.length > 1))
    log.warn("Paths are given more than once: without * in any of them only the last counts", {
      csiAddress: flags.csiAddress,
      kubeletRegistrationPath: flags.kubeletRegistrationPath,
    });
}
