import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { explore } from "./explore";
import type { Setup } from "./world";

const PAGE = join(__dirname, "README.md");
const [BEGIN, END] = ["<!-- npm run explore writes this -->\n", "<!-- end -->\n"] as const;

/** Of CPU; what is not at its end by then is one line of the page, too. */
const WITHIN_SECONDS = 600;
/** The same for two registrars that may move from a backoff at any time: they have no end within hours. */
const ENDLESS_SECONDS = 15;
const isEndless = ({ ours, faults, undone }: Setup) => ours.length > 1 && faults > 0 && undone === undefined;

const POLICIES = ["exit", "retry", "node-wide"] as const;
const PAIRS: readonly Setup["ours"][] = [
  ...POLICIES.map((one) => [one, one]),
  ["exit", "retry"],
  // As on a node whose driver still has its sidecar.
  ["node-wide", "exit"],
];
const SETUPS: readonly Setup[] = [
  ...[false, true].flatMap((kubeletForgets): readonly Setup[] => [
    ...POLICIES.flatMap((policy): Setup[] => [
      { kubeletForgets, ours: [policy], officials: 0, faults: 2, deadFile: true },
      { kubeletForgets, ours: [policy], officials: 1, faults: 1 },
    ]),
    ...PAIRS.map((ours) => ({ kubeletForgets, ours, officials: 0, faults: 1, undone: "move" as const })),
    ...PAIRS.map((ours) => ({ kubeletForgets, ours, officials: 0, faults: 1 })),
    ...PAIRS.map((ours) => ({
      kubeletForgets,
      ours,
      officials: 0,
      faults: 0,
      backoff: true,
      deadFile: true,
    })),
    { kubeletForgets, ours: ["retry"], officials: 0, faults: 2, served: true, deadFile: true },
    { kubeletForgets, ours: ["retry"], officials: 0, faults: 2, strangers: true },
    { kubeletForgets, ours: ["exit"], officials: 0, faults: 2, pending: true },
    { kubeletForgets, ours: ["retry"], officials: 0, faults: 2, slowLook: true },
    { kubeletForgets, ours: ["retry"], officials: 0, faults: 2, backoff: true, deadFile: true },
  ]),
  ...POLICIES.flatMap((one): Setup[] => [
    { kubeletForgets: true, ours: [one], officials: 0, faults: 3, deadFile: true },
    { kubeletForgets: true, ours: [one], officials: 1, faults: 2 },
  ]),
  { kubeletForgets: true, ours: ["node-wide", "node-wide"], officials: 0, faults: 2, undone: "move" },
  { kubeletForgets: true, ours: ["retry", "retry"], officials: 0, faults: 2, undone: "move" },
];

const MORE = [
  ["deadFile", ", after a reboot"],
  ["backoff", ", backoff"],
  ["strangers", ", strangers"],
  ["pending", ", NodeGetInfo for an earlier run"],
  ["served", ", served"],
  ["slowLook", ", kubelet calls during a look"],
  ["undone", ", kubelet calls before a move"],
] as const;

/** What is not mended, of kubelets up to 1.35: the page says why. */
const KINDS = [
  /kubelet deregisters a(?!.*kubelet takes a)/s,
  /kubelet takes a of (\S+)\n(?!.*kubelet reports its status for a over \1\n.*kubelet deregisters a\n).*kubelet deregisters a\n.*kubelet takes a of (?!\1\n)/s,
];
const isKnown = ({ kubeletForgets }: Setup, story: readonly string[]) =>
  !kubeletForgets && KINDS.some((kind) => kind.test(`${story.join("\n")}\n`));

/** Goes through one setup, and tells its row and its story. */
function tell(setup: Setup) {
  const { states, depth, seconds, isWhole, counterexample } = explore(setup, {
    withinSeconds: isEndless(setup) ? ENDLESS_SECONDS : WITHIN_SECONDS,
  });
  const name = [
    setup.kubeletForgets ? "from 1.36" : "up to 1.35",
    [...setup.ours, ...Array.from({ length: setup.officials }, () => "the official one")].join(", "),
    `${setup.faults}${MORE.map(([key, text]) => (setup[key] ? text : "")).join("")}`,
  ];
  const found = counterexample
    ? `a story of ${counterexample.story.length} steps`
    : `nothing${isWhole ? "" : ", not to its end"}`;
  const story = counterexample ? [counterexample.what, ...counterexample.story] : [];
  return {
    row: `| ${[...name, states, depth, `${seconds.toFixed(1)} s`, found].join(" | ")} |\n`,
    text: `${[`${name.join(" | ")}: ${states} states, ${found}`, ...story].join("\n  ")}\n`,
    isNew: counterexample !== undefined && !isKnown(setup, counterexample.story),
  };
}

/**
 * Goes through each setup, in as many processes as there are CPUs, prints the stories that it finds, and writes the page's
 * table, row by row. Exits with 1 for a story of a kind that is not known.
 */
async function main(): Promise<void> {
  const rows: string[] = [];
  const left = [...SETUPS.entries()];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [at, setup] = next;
      const child = fork(__filename, { env: { ...process.env, SETUP: JSON.stringify(setup) } });
      const exited = once(child, "exit");
      const [told]: ReturnType<typeof tell>[] = await Promise.race([once(child, "message"), exited]);
      if (typeof told !== "object" || told === null)
        throw new Error(`exploring ${JSON.stringify(setup)} ended`);
      await exited;
      process.stdout.write(told.text);
      if (told.isNew) process.exitCode = 1;
      rows[at] = told.row;
      writeTable(rows);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
}

const HEAD =
  "| Kubelet | Registrars | Faults | States | Depth | CPU | Found |\n| --- | --- | --- | --- | --- | --- | --- |\n";

function writeTable(rows: readonly string[]): void {
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  writeFileSync(PAGE, `${before}${BEGIN}${HEAD}${rows.join("")}${END}${rest.split(END)[1] ?? ""}`);
}

const { SETUP } = process.env;
if (SETUP !== undefined) process.send?.(tell(JSON.parse(SETUP) as Setup));
else void main();
