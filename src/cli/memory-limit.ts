import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const MEBIBYTE = 2 ** 20;
/** Enough for a cold start, also where disks read 8 MB ahead. */
const ENOUGH_MI = 64;
/** Enough where disks read ahead as Linux has them by default (128 kB), and up to `MODEST_READ_AHEAD_KB`. */
const LEAST_MI = 32;
const MODEST_READ_AHEAD_KB = 512;

/** Fields of the log line that says so. */
export interface MemoryProblem {
  readonly limit: string;
  /** The limit to set. */
  readonly set: string;
  readonly readAhead: string;
}

/**
 * What is wrong with a memory limit; undefined where a cold start fits into it. A cold start is the first one after a
 * reboot: the kernel reads Node's pages from disk and charges them to our container, with all that it reads ahead at each
 * page fault. Where that is much it drives out pages that are needed again at once: the start takes minutes or never
 * ends, and nothing kills it.
 */
export function judgeMemoryLimit(limitBytes: number, readAheadKb: number): MemoryProblem | undefined {
  const limitMi = limitBytes / MEBIBYTE;
  if (limitMi >= (readAheadKb > MODEST_READ_AHEAD_KB ? ENOUGH_MI : LEAST_MI)) return undefined;
  return { limit: `${Math.floor(limitMi)}Mi`, set: `${ENOUGH_MI}Mi`, readAhead: `${readAheadKb} kB` };
}

/** The same for the node whose disks are in `disks`, `/sys/block`; it is not read where the limit is enough for any. */
export function memoryProblem(limitBytes: number, disks: string): MemoryProblem | undefined {
  if (limitBytes >= ENOUGH_MI * MEBIBYTE) return undefined;
  return judgeMemoryLimit(limitBytes, longestReadAheadKb(disks));
}

/** In kB, 0 where none can be read. It is that of any disk: an overlay does not tell which one holds the image. */
export function longestReadAheadKb(disks: string): number {
  try {
    return Math.max(0, ...readdirSync(disks).map((disk) => readAheadKbOf(join(disks, disk))));
  } catch {
    return 0;
  }
}

function readAheadKbOf(disk: string): number {
  try {
    return Number.parseInt(readFileSync(join(disk, "queue", "read_ahead_kb"), "latin1"), 10) || 0;
  } catch {
    return 0;
  }
}
