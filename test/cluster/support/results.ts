import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "./play";

/** The file of outcomes in a cluster's folder, one JSON object a line. */
export const resultsFile = (folder: string): string => join(folder, "outcomes.jsonl");

/** Tells an outcome, and keeps it for the page. */
export function keepOutcome(outcome: Outcome): void {
  process.stdout.write(`${describe(outcome)}\n`);
  const folder = process.env.CLUSTER_FOLDER;
  if (folder) appendFileSync(resultsFile(folder), `${JSON.stringify(outcome)}\n`);
}

function describe({ title, contestant, missingMs, podMs, restarts }: Outcome): string {
  const told = (ms: number | undefined) => (ms === undefined ? "not back" : `${(ms / 1000).toFixed(1)} s`);
  return `${title}: ${contestant}: missing ${told(missingMs)}, pod ${told(podMs)}, ${restarts} restarts`;
}
