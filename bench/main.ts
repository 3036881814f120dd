import { parseArgs } from "node:util";
import { buildPrograms } from "../test/kubelet/support/build";
import { newestVersion } from "../test/kubelet/support/versions";
import { runMain } from "../test/support/run-main";
import { createTempFolder } from "../test/support/temp-folder";
import type { Bench, Measurement } from "./bench";
import { writeFigures } from "./figures";
import { hostile } from "./hostile";
import { performance as performanceFigures } from "./performance";
import { pull } from "./pull";
import { reliability } from "./reliability";
import { soak } from "./soak";
import { watchConditions } from "./support/conditions";
import { prepareContestants } from "./support/contestants";

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  performance: performanceFigures,
  reliability,
  hostile,
  pull,
  soak,
};

const USAGE = `usage: node --require ./scripts/typescript.cjs bench/main.ts ${Object.keys(MEASUREMENTS).join("|")} [FLAGS]

Measures this registrar, beside the official one where its path is given, and prints the figures. npm run has a script for
each measurement. Best on a machine that does nothing else.

  --official PATH     the official node-driver-registrar
  --node PATH         another Node to measure with
  --only TEXT         only what has this text in its name
  --write             writes the figures into their page; not with --only
  --at-once N         reliability: so many plays at a time (8)
  --minutes N         soak: for so long (10)
  --seed N            soak: the same disturbances as a run that printed this seed
  --kubelet VERSION   soak: ${newestVersion} unless given
  --keep-logs         soak: keeps the logs, which a failure does anyway
`;

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      official: text,
      node: { ...text, default: process.execPath },
      only: { ...text, default: "" },
      write: { type: "boolean", default: false },
      "at-once": { ...text, default: "8" },
      minutes: { ...text, default: "10" },
      seed: { ...text, default: `${Date.now() % 1_000_000}` },
      kubelet: { ...text, default: newestVersion },
      "keep-logs": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { node, official, only, kubelet, write } = values;
  const measurement = MEASUREMENTS[positionals[0] ?? ""];
  if (values.help) return say(USAGE);
  if (measurement === undefined || (write && only !== "")) throw new Error(USAGE);
  for (const version of measurement.kubelets(kubelet)) await buildPrograms(version);
  const conditions = watchConditions(node, official);
  await using folder = await createTempFolder();
  const bench: Bench = {
    ...{ node, kubelet, only, say },
    ...prepareContestants(folder.path, node, official),
    atOnce: Number(values["at-once"]),
    minutes: Number(values.minutes),
    seed: Number(values.seed),
    keepsLogs: values["keep-logs"],
  };
  const figures = await measurement.run(bench);
  const all = `${conditions()}\n\n${figures}`;
  say(`\n${all}`);
  if (write) writeFigures(measurement.command, all);
}

runMain(main);
