import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { programPath } from "../../test/kubelet/support/build";
import { newestVersion } from "../../test/kubelet/support/versions";
import { createTempFolder } from "../../test/support/temp-folder";
import { withFigures } from "../figures";
import { watchConditions } from "./conditions";
import { prepareContestants, whyNoOfficial } from "./contestants";
import type { Bench, Finding, Measure } from "./measure";
import { DECIDING, OTHERS } from "./measures";
import { findingText, verdictText } from "./page";

const USAGE = `usage: npm run bench -- [--official PATH] [--node PATH]... [--only NAME] [--quick] [--dry-run]

Measures this registrar beside the official one, a naive one and bare Node, prints every figure, and writes what decides
into docs/performance.md, in the place for that release line of Node. Best on a machine that does nothing else. Takes eight
minutes for each Node.

  --official PATH   the official node-driver-registrar; without it the comparison is left out
  --node PATH       another Node to measure with; may be given several times; the page has places for 24 and 26
  --only NAME       one of: ${DECIDING.map(({ name }) => name).join(", ")}; does not write the page.
                    Also, only printed: ${OTHERS.map(({ name }) => name).join(", ")}
  --quick           a quarter of the samples and of the waits for rest; the page says so
  --dry-run         does not write the page

Measures with kubelet's real code need the programs of \`npm run test:kubelet\`; they are left out where those are not built.
`;

const page = join(__dirname, "..", "..", "docs", "performance.md");
const say = (text: string) => void process.stdout.write(`${text}\n`);

interface Settings {
  readonly official: string | undefined;
  readonly measures: readonly Measure[];
  readonly quick: boolean;
  /** Figures go to the page too. */
  readonly isForThePage: boolean;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      official: { type: "string" },
      node: { type: "string", multiple: true, default: [process.execPath] },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const { only, official, quick } = values;
  const measures =
    only === undefined ? DECIDING : [...DECIDING, ...OTHERS].filter(({ name }) => name === only);
  if (measures.length === 0) throw new Error(`there is no measure ${only}\n\n${USAGE}`);
  const isForThePage = !(only || values["dry-run"]);
  const settings = { official, measures, quick, isForThePage };
  // Fails now, and not in a while, where the page has no place for them.
  if (isForThePage) for (const node of values.node) write(node, "Being measured.");
  for (const node of values.node) await measureWith(node, settings);
}

/** Puts figures into the place for this Node. */
function write(node: string, text: string): void {
  const [, major] = /^v(\d+)/.exec(execFileSync(node, ["--version"], { encoding: "utf8" })) ?? [];
  writeFileSync(page, withFigures(readFileSync(page, "utf8"), `npm run bench with Node ${major}`, text));
}

async function measureWith(
  node: string,
  { official, measures, quick, isForThePage }: Settings,
): Promise<void> {
  const left = [whyNoOfficial(official), whyNoKubelet()].filter((reason) => reason !== undefined);
  for (const reason of left) say(reason);
  const programs = { node, official: whyNoOfficial(official) ? undefined : official };
  await using folder = await createTempFolder();
  const bench: Bench = {
    node,
    contestants: prepareContestants(folder.path, programs),
    rounds: (full) => (quick ? Math.ceil(full / 4) : full),
    restMs: (full) => (quick ? full / 4 : full),
    kubelet: whyNoKubelet() ? undefined : newestVersion,
    say,
  };

  const conditions = watchConditions(programs);
  const findings: Finding[] = [];
  for (const { name, run } of measures) {
    const startedAt = performance.now();
    const finding = await run(bench);
    findings.push(finding);
    say(
      `\n${findingText(finding)}\n\n(${name} took ${((performance.now() - startedAt) / 1_000).toFixed(0)} s)\n`,
    );
  }
  const verdicts = findings.flatMap((finding) => finding.verdicts);
  say(`${verdictText(verdicts)}\n\n${conditions()}`);
  if (!isForThePage) return;
  const how = quick ? ["A quick run: a quarter of the samples, and of the waits for rest."] : [];
  write(node, [conditions(), ...how, ...left, verdictText(verdicts)].join("\n\n"));
}

function whyNoKubelet(): string | undefined {
  return existsSync(programPath("kubelet", newestVersion))
    ? undefined
    : "kubelet's real code is not built (npm run test:kubelet): what needs it is left out";
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
