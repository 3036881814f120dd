import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPrograms } from "../../test/kubelet/support/build";
import { newestVersion } from "../../test/kubelet/support/versions";
import { createTempFolder } from "../../test/support/temp-folder";
import { withFigures } from "../figures";
import { describeMachine } from "../performance/conditions";
import { disturbanceTable, lifeTable } from "./report";
import { soak } from "./run";

const USAGE = `usage: npm run soak -- [--minutes N] [--seed S] [--kubelet VERSION] [--node PATH] [--keep-logs] [--write]

Runs registrars on a node with kubelet's real code, disturbs them at random, and looks whether they come to rest with
every driver registered, and do not grow. Exits with 1 at the first breach, and says with which seed and at which step.

  --minutes N         for so long (10)
  --seed S            the same disturbances as a run that printed this seed
  --kubelet VERSION   ${newestVersion} unless told
  --node PATH         another Node to run the registrars with
  --keep-logs         keeps the logs of registrars and kubelets, which a breach does anyway
  --write             writes the figures into docs/reliability.md
`;

const COMMAND = "npm run soak";
const root = join(__dirname, "..", "..");
const page = join(root, "docs", "reliability.md");
const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      seed: { type: "string", default: `${Date.now() % 1_000_000}` },
      kubelet: { type: "string", default: newestVersion },
      node: { type: "string", default: process.execPath },
      "keep-logs": { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error(USAGE);
  for (const version of new Set([values.kubelet, newestVersion])) await buildPrograms(version, say);
  say(`seed ${seed}`);

  // A copy: the run takes long, and a build in the meantime would take the program away.
  await using folder = await createTempFolder();
  cpSync(join(root, "dist"), folder.path, { recursive: true });
  const command = [values.node, folder.at("cli.js")];
  const { disturbances, lives, requests, probes, processes, breaches } = await soak({
    seed,
    minutes,
    version: values.kubelet,
    command,
    keepsLogs: values["keep-logs"],
    say,
  });
  const conditions = [
    `${new Date().toISOString().slice(0, 10)}, ${describeMachine(values.node)}, kubelet ${values.kubelet}:`,
    `${minutes} minutes, seed ${seed}, ${disturbances.length} disturbances, ${processes} registrars started,`,
    `${requests} HTTP requests and ${probes} exec probes meanwhile.`,
  ].join("\n");
  const figures = [conditions, disturbanceTable(disturbances), lifeTable(lives)].join("\n\n");
  say(`\n${figures}\n`);
  if (breaches.length > 0) {
    process.stderr.write(
      `Breach, replay with --seed ${seed} --minutes ${minutes} --kubelet ${values.kubelet}\n`,
    );
    for (const breach of breaches) process.stderr.write(`${breach}\n`);
    process.exitCode = 1;
  } else if (values.write) {
    writeFileSync(page, withFigures(readFileSync(page, "utf8"), COMMAND, figures));
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
