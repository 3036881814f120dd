import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { attempt, errnoOf } from "../base/errors";

/** Descriptors for kubelet, the driver, a self-check and the next socket, which other clients may not take. */
const RESERVE = 16;

/** Whether something failed because this process, or the machine, has no file descriptor or no memory left. */
export const isShortage = (error: unknown): boolean => shortageText(error) !== undefined;

/** What this process, or the machine, has none left of; undefined for another failure. */
export const shortageText = (error: unknown): string | undefined => SHORTAGES[errnoOf(error) ?? ""];

/** How many file descriptors this process may have: 0 where none is left to find out, infinite where the system does not tell. */
export function descriptorLimit(): number {
  try {
    const [, limit] = /Max open files +(\d+)/.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch (error) {
    return isShortage(error) ? 0 : Number.POSITIVE_INFINITY;
  }
}

/** File descriptors for each driver: the connection to it, the listener for kubelet, and kubelet's connection for moments. */
const OF_EACH_DRIVER = 3;
const OF_OTHERS = 32;

/** How many file descriptors this process needs for so many drivers, besides those open now. */
export function countDescriptorNeed(): (drivers: number) => number {
  const others = countDescriptors() + OF_OTHERS;
  return (drivers) => others + OF_EACH_DRIVER * drivers;
}

export const descriptorFix = (needed: number): string =>
  `give the registrar at least ${needed} file descriptors: ulimit -n, LimitNOFILE of the container runtime`;

/** How many file descriptors are open, in milliseconds where they are thousands; 0 if unknown. */
export const countDescriptors = (): number => attempt(() => readdirSync("/proc/self/fd").length - 1) ?? 0;

/**
 * For the log, that nearly all file descriptors of this process are in use; undefined if not, or if unknown. Call it for each
 * accepted connection: at EMFILE libuv accepts and closes the next one, which may be kubelet's, without an error.
 */
export function descriptorShortage(): string | undefined {
  try {
    const limit = descriptorLimit();
    const lowestFree = openSync("/dev/null", "r");
    closeSync(lowestFree);
    if (lowestFree < limit - RESERVE) return undefined;
    return `EMFILE is near: ${lowestFree} of ${limit} file descriptors are in use`;
  } catch (error) {
    return shortageText(error);
  }
}

const SHORTAGES: Readonly<Record<string, string>> = {
  EMFILE: "EMFILE: all file descriptors of this process are in use",
  ENFILE: "ENFILE: all file descriptors of this machine are in use",
  ENOMEM: "ENOMEM: the kernel has no memory left for a file",
};
