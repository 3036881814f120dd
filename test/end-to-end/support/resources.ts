import { readdirSync, readFileSync } from "node:fs";
import type { CliProcess } from "./process";

/** More than any registrar of one driver ever needs, also when it was flooded: V8 is in no hurry to give back. */
export const MUCH_MEMORY_KB = 200_000;

export const descriptorsOf = ({ pid }: CliProcess): number => readdirSync(`/proc/${pid}/fd`).length;

/** Memory in RAM that a registrar has now, or the most that it ever had. */
export function residentKilobytes({ pid }: CliProcess, field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]);
}
