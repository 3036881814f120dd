import type { Bench, Measurement, Row } from "../bench";
import { grid } from "../figures";
import { arrival } from "./arrival";
import { cold } from "./cold";
import { commands } from "./commands";
import { cpu } from "./cpu";
import { probes } from "./probes";
import { resting } from "./resting";
import { scale } from "./scale";
import { start } from "./start";

const MEASURES: Readonly<Record<string, (bench: Bench) => Promise<readonly Row[]>>> = {
  arrival,
  start,
  commands,
  probes,
  resting,
  scale,
  cold,
  cpu,
};

/** What this registrar costs beside the official one and bare Node. */
export const performance: Measurement = {
  command: "npm run bench",
  kubelets: (chosen) => [chosen],
  run: async (bench) => {
    const rows: Row[] = [];
    for (const [name, measure] of Object.entries(MEASURES)) {
      if (!name.includes(bench.only)) continue;
      for (const row of await measure(bench)) {
        bench.say(row.join(" | "));
        rows.push(row);
      }
    }
    return grid(["", "registrar", "official"], rows);
  },
};
