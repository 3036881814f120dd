import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../base/errors";

const MEBIBYTE = 2 ** 20;
/** Enough for a cold start, also if disks read 8 MB ahead. */
const ENOUGH_MI = 64;
/** Enough if disks read ahead as Linux has them by default (128 kB), and up to `MODEST_READ_AHEAD_KB`. */
const LEAST_MI = 32;
const MODEST_READ_AHEAD_KB = 512;

/**
 * What is wrong with a memory limit, as fields of a log line; undefined if a cold start fits into it. A cold start is
 * the first one after a reboot: the kernel reads Node's pages from disk and charges them to our container, with all that
 * it reads ahead at each page fault. Much read-ahead evicts pages that are needed again at once: the start takes minutes
 * or never ends, and nothing kills it. `disks` is `/sys/block`.
 */
export function memoryProblem(limitBytes: number, disks: string) {
  const limitMi = limitBytes / MEBIBYTE;
  // Node answers 0 for no limit.
  if (limitBytes === 0 || limitMi >= ENOUGH_MI) return undefined;
  const readAheadKb = longestReadAheadKb(disks);
  if (limitMi >= LEAST_MI && readAheadKb <= MODEST_READ_AHEAD_KB) return undefined;
  return { limit: `${Math.floor(limitMi)}Mi`, set: `${ENOUGH_MI}Mi`, readAhead: `${readAheadKb} kB` };
}

/** In kB, 0 if none can be read. Any disk counts: an overlay does not tell which one holds the image. */
function longestReadAheadKb(disks: string): number {
  const readAheadKbOf = (disk: string) => {
    const text = attempt(() => readFileSync(join(disks, disk, "queue", "read_ahead_kb"), "latin1"));
    return Number.parseInt(text ?? "", 10) || 0;
  };
  return Math.max(0, ...(attempt(() => readdirSync(disks)) ?? []).map(readAheadKbOf));
}
