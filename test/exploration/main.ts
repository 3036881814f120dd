import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { explore } from "./explore";
import type { Setup } from "./world";

const PAGE = join(__dirname, "README.md");
const [BEGIN, END] = ["<!-- npm run explore writes this -->\n", "<!-- end -->\n"] as const;

/** Of CPU; what is not at its end by then is one line of the page, too. */
const WITHIN_SECONDS = 600;

const POLICIES = ["exit", "retry", "node-wide"] as const;
const PAIRS: readonly Setup["ours"][] = [...POLICIES.map((one) => [one, one]), ["exit", "retry"]];
const SETUPS: readonly Setup[] = [
  ...[false, true].flatMap((kubeletForgets): readonly Setup[] => [
    ...POLICIES.flatMap((policy): Setup[] => [
      { kubeletForgets, ours: [policy], officials: 0, faults: 2, deadFile: true },
      { kubeletForgets, ours: [policy], officials: 1, faults: 1 },
    ]),
    ...PAIRS.map((ours) => ({ kubeletForgets, ours, officials: 0, faults: 1 })),
  ]),
  ...POLICIES.flatMap((one): Setup[] => [
    { kubeletForgets: true, ours: [one], officials: 0, faults: 3, deadFile: true },
    { kubeletForgets: true, ours: [one], officials: 1, faults: 2 },
  ]),
  { kubeletForgets: true, ours: ["node-wide", "node-wide"], officials: 0, faults: 2 },
  { kubeletForgets: true, ours: ["retry", "retry"], officials: 0, faults: 2 },
];

/** What is not mended, of kubelets up to 1.35: the page says why. */
const isKnown = ({ kubeletForgets, deadFile = false, ours }: Setup) =>
  !kubeletForgets && (deadFile || (ours.length > 1 && ours.includes("retry")));
const KINDS = [
  /kubelet deregisters a(?!.*kubelet takes a)/s,
  /NodeGetInfo fails.*is frozen\nkubelet reports its status.*goes on$/s,
];
const isOfKnownKind = (story: readonly string[]) => KINDS.some((kind) => kind.test(story.join("\n")));

/**
 * Goes through each setup, prints the stories that it finds, and writes the page's table, row by row. Exits with 1 for a
 * story that is not known, and for a known one that is not found any more.
 */
function main(): void {
  const rows: string[] = [];
  for (const setup of SETUPS) {
    const { states, depth, seconds, isWhole, counterexample } = explore(setup, {
      withinSeconds: WITHIN_SECONDS,
    });
    const name = [
      setup.kubeletForgets ? "from 1.36" : "up to 1.35",
      [...setup.ours, ...Array.from({ length: setup.officials }, () => "the official one")].join(", "),
      `${setup.faults}${setup.deadFile ? ", after a reboot" : ""}`,
    ];
    const isFound = counterexample !== undefined && isOfKnownKind(counterexample.story);
    if (isFound !== isKnown(setup) || (counterexample && !isFound)) process.exitCode = 1;
    const found = counterexample
      ? `a story of ${counterexample.story.length} steps`
      : `nothing${isWhole ? "" : ", not to its end"}`;
    process.stdout.write(`${name.join(" | ")}: ${states} states, ${found}\n`);
    if (counterexample)
      process.stdout.write(`  ${[counterexample.what, ...counterexample.story].join("\n  ")}\n`);
    rows.push(`| ${[...name, states, depth, `${seconds.toFixed(1)} s`, found].join(" | ")} |\n`);
    writeTable(rows);
  }
}

const HEAD =
  "| Kubelet | Registrars | Faults | States | Depth | CPU | Found |\n| --- | --- | --- | --- | --- | --- | --- |\n";

function writeTable(rows: readonly string[]): void {
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  writeFileSync(PAGE, `${before}${BEGIN}${HEAD}${rows.join("")}${END}${rest.split(END)[1] ?? ""}`);
}

main();
