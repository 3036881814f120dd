import { closeSync, openSync, readFileSync } from "node:fs";
import { errnoOf } from "../base/errors";

/** Descriptors that are kept free of strangers' connections: for kubelet, the driver, a self-check, the next socket. */
const RESERVE = 16;

/** Connections that a listener may always have, so that a flood of another listener does not close it. */
export const ALWAYS_ALLOWED_CONNECTIONS = 4;

/** What to look at when file descriptors run short. */
export const SHORTAGE_CHECK =
  "who holds connections to this process (ss -xp, ss -tp), and its limit: ulimit -n, LimitNOFILE of the container runtime";

/**
 * Says in words for the log that nearly all file descriptors of this process are in use; undefined where there is room,
 * or no way to tell.
 *
 * To be asked when a connection was accepted, since there is no error to wait for: at EMFILE libuv accepts and closes
 * whatever connects next, kubelet too, without an error. The lowest free number shows it: all below it are in use.
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
