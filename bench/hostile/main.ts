import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createTempFolder } from "../../test/support/temp-folder";
import { grid, withFigures } from "../figures";
import { whyNoCgroups } from "../performance/cgroups";
import { watchConditions } from "../performance/conditions";
import { type Contestant, prepareContestants, whyNoOfficial } from "../performance/contestants";
import { type Ordeal, undergo } from "./ordeal";
import type { Missed } from "./prober";
import type { Visit } from "./visitors";

const USAGE = `usage: npm run bench:hostile -- [--official PATH] [--node PATH]... [--only TEXT] [--dry-run]

Lets hostile clients loose on a registrar and writes into docs/security.md what memory that costs. Takes three minutes
for each Node and for the official one. Best on a machine that does nothing else.

  --official PATH   the official node-driver-registrar; without it only ours is measured
  --node PATH       another Node to measure with; may be given several times
  --only TEXT       visits only whose door has this text; does not write the page
  --dry-run         does not write the page
`;

const LIMIT_MB = 32;
const VISITS: readonly Visit[] = (["registration socket", "HTTP endpoint"] as const).flatMap((door) => [
  { door, connections: 200, atOnce: 10, stayEvery: 5 },
  { door, connections: 500, atOnce: 500, stayEvery: 5 },
]);

const page = join(__dirname, "..", "..", "docs", "security.md");
const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      official: { type: "string" },
      node: { type: "string", multiple: true, default: [process.execPath] },
      only: { type: "string" },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const left = [whyNoOfficial(values.official), whyNoCgroups()].filter((reason) => reason !== undefined);
  for (const reason of left) say(reason);
  const official = whyNoOfficial(values.official) ? undefined : values.official;
  const conditions = watchConditions({ node: values.node[0] ?? process.execPath, official });

  await using folder = await createTempFolder();
  const contestants: Contestant[] = [];
  for (const node of values.node) {
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
    const prepared = prepareContestants(folder.at(version), { node, official });
    contestants.push({ ...prepared.cached, name: `registrar, Node ${version.slice(1)}` });
    if (prepared.official && node === values.node.at(-1)) contestants.push(prepared.official);
  }
  const rows: (readonly string[])[] = [];
  for (const visit of VISITS.filter(({ door }) => door.includes(values.only ?? ""))) {
    for (const contestant of contestants) {
      const [free, limited] = await Promise.all([
        undergo(contestant, visit),
        whyNoCgroups() ? undefined : undergo(contestant, visit, LIMIT_MB),
      ]);
      rows.push(rowOf(visit, contestant, free, limited));
      say(rows.at(-1)?.join(" | ") ?? "");
    }
  }
  const head = [
    "at",
    "clients",
    "",
    "at rest, MB",
    "at most",
    "10 s after",
    `within ${LIMIT_MB}Mi`,
    "failed probes",
  ];
  const text = [grid(head, rows), conditions().replace(/\n[^\n]*$/, ""), ...left].join("\n\n");
  say(`\n${text}`);
  if (values["dry-run"] || values.only !== undefined) return;
  writeFileSync(page, withFigures(readFileSync(page, "utf8"), "npm run bench:hostile", text));
}

function rowOf(
  { door, connections, atOnce }: Visit,
  { name }: Contestant,
  free: Ordeal,
  limited: Ordeal | undefined,
): readonly string[] {
  const { restMb, peakMb, afterMb, isRegistered } = free;
  const more = (mb: number) => `${mb < 0 ? "−" : "+"}${Math.abs(mb).toFixed(1)}`;
  const words = (ordeal: Ordeal) => (ordeal.isRegistered ? "registered" : "**not registered**");
  const clients = `${connections}, ${atOnce === connections ? "all" : atOnce} at a time`;
  return [
    door,
    clients,
    isRegistered ? name : `${name}: **not registered**`,
    restMb.toFixed(1),
    more(peakMb),
    more(afterMb),
    limited === undefined ? "not tried" : words(limited),
    missedText(limited ? [free.probes, limited.probes] : [free.probes]),
  ];
}

/** Of all runs together. */
function missedText(runs: readonly Missed[]): string {
  const [failed, late] = (["failed", "late"] as const).map((kind) =>
    runs.reduce((sum, run) => sum + run[kind], 0),
  );
  return late === 0 ? `${failed}` : `${failed}, ${late} late`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
