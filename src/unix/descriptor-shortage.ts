import { closeSync, openSync, readFileSync } from "node:fs";
import { errnoOf } from "../base/errors";

/** Descriptors for kubelet, the driver, a self-check and the next socket, which other clients may not take. */
const RESERVE = 16;

/** Connections that a listener may always have, so that a flood on another listener does not close them. */
export const ALWAYS_ALLOWED_CONNECTIONS = 4;

export const SHORTAGE_CHECK =
  "who holds connections to this process (ss -xp, ss -tp), and its limit: ulimit -n, LimitNOFILE of the container runtime";

/**
 * For the log, that nearly all file descriptors of this process are in use; undefined if not, or if unknown.
 *
 * Call it for each accepted connection: at EMFILE libuv accepts and closes the next one, which may be kubelet's, without an
 * error. All descriptors below the lowest free number are in use.
 */
export function descriptorShortage(): string | undefined {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    const lowestFree = openSync("/dev/null", "r");
    closeSync(lowestFree);
    if (limit === undefined || lowestFree < Number(limit) - RESERVE) return undefined;
    return `EMFILE is near: ${lowestFree} of ${limit} file descriptors are in use`;
  } catch (error) {
    return errnoOf(error) === "EMFILE" ? "EMFILE: all file descriptors are in use" : undefined;
  }
}
