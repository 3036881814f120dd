import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { explore } from "./explore";
import type { Setup } from "./world";

const PAGE = join(__dirname, "README.md");
const [BEGIN, END] = ["<!-- npm run explore writes this -->\n", "<!-- end -->\n"] as const;

const WITHOUT = { officials: 0, faults: 2, deadFile: true } as const;
const SETUPS: readonly Setup[] = [
  ...[false, true].flatMap((kubeletForgets): readonly Setup[] => [
    ...(["exit", "retry", "node-wide"] as const).flatMap((policy): Setup[] => [
      { ...WITHOUT, kubeletForgets, ours: [policy] },
      { kubeletForgets, ours: [policy], officials: 1, faults: 1 },
    ]),
    { kubeletForgets, ours: ["retry", "retry"], officials: 0, faults: 0 },
  ]),
  { ...WITHOUT, faults: 3, kubeletForgets: true, ours: ["retry"] },
];

/** What is not mended: up to 1.35 kubelet deregisters over one path what it has just registered over another. */
const KNOWN_END = "kubelet deregisters a";
const isKnown = ({ kubeletForgets, deadFile = false }: Setup) => deadFile && !kubeletForgets;

/**
 * Goes through each setup to its end, prints the stories that it finds, and writes the page's table. Exits with 1 for a story
 * that is not known, and for a known one that is not found any more.
 */
function main(): void {
  const rows = SETUPS.map((setup) => {
    const { states, depth, seconds, counterexample } = explore(setup);
    const name = [
      setup.kubeletForgets ? "from 1.36" : "up to 1.35",
      [...setup.ours, ...Array.from({ length: setup.officials }, () => "the official one")].join(", "),
      `${setup.faults}${setup.deadFile ? ", after a reboot" : ""}`,
    ];
    const isFound = counterexample?.story.at(-1) === KNOWN_END;
    if (isFound !== isKnown(setup) || (counterexample && !isFound)) process.exitCode = 1;
    const found =
      counterexample === undefined ? "nothing" : `a story of ${counterexample.story.length} steps`;
    process.stdout.write(`${name.join(" | ")}: ${states} states, ${found}\n`);
    if (counterexample)
      process.stdout.write(`  ${[counterexample.what, ...counterexample.story].join("\n  ")}\n`);
    return `| ${[...name, states, depth, `${seconds.toFixed(1)} s`, found].join(" | ")} |\n`;
  });
  const head =
    "| Kubelet | Registrars | Faults | States | Depth | CPU | Found |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  writeFileSync(PAGE, `${before}${BEGIN}${head}${rows.join("")}${END}${rest.split(END)[1] ?? ""}`);
}

main();
