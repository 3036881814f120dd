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
import type { Bench, Finding } from "./measure";
import { MEASURES } from "./measures";
import { findingText, verdictText } from "./page";

const USAGE = `usage: npm run bench -- [--official PATH] [--node PATH] [--only NAME] [--quick] [--dry-run]

Measures this registrar beside the official one, a naive one and bare Node, prints every figure, and writes what decides
into docs/performance.md, in the place for that release line of Node. Best on a machine that does nothing else. Takes 20
minutes.

  --official PATH   the official node-driver-registrar; without it the comparison is left out
  --node PATH       another Node to measure with; the page has places for 24 and 26
  --only NAME       one of: ${MEASURES.map(({ name }) => name).join(", ")}; does not write the page
  --quick           a quarter of the samples and of the waits for rest; the page says so
  --dry-run         does not write the page

Measures with kubelet's real code need the programs of \`npm run test:kubelet\`; they are left out where those are not built.
`;

const page = join(__dirname, "..", "..", "docs", "performance.md");
const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      official: { type: "string" },
      node: { type: "string", default: process.execPath },
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const measures = MEASURES.filter(({ name }) => values.only === undefined || name === values.only);
  if (measures.length === 0) throw new Error(`there is no measure ${values.only}\n\n${USAGE}`);

  const isForThePage = !(values.only || values["dry-run"]);
  const write = (text: string) => {
    const [, major] = /^v(\d+)/.exec(execFileSync(values.node, ["--version"], { encoding: "utf8" })) ?? [];
    writeFileSync(page, withFigures(readFileSync(page, "utf8"), `npm run bench with Node ${major}`, text));
  };
  if (isForThePage) write("Being measured."); // Fails now, and not in half an hour, where the page has no place for them.

  const left = [whyNoOfficial(values.official), whyNoKubelet()].filter((reason) => reason !== undefined);
  for (const reason of left) say(reason);
  const programs = {
    node: values.node,
    official: whyNoOfficial(values.official) ? undefined : values.official,
  };
  await using folder = await createTempFolder();
  const bench: Bench = {
    node: values.node,
    contestants: prepareContestants(folder.path, programs),
    rounds: (full) => (values.quick ? Math.ceil(full / 4) : full),
    restMs: (full) => (values.quick ? full / 4 : full),
    kubelet: whyNoKubelet() ? undefined : newestVersion,
    say,
  };

  const conditions = watchConditions(programs);
  const findings: Finding[] = [];
  for (const { run } of measures) {
    const finding = await run(bench);
    findings.push(finding);
    say(`\n${findingText(finding)}\n`);
  }
  const verdicts = findings.flatMap((finding) => finding.verdicts);
  say(`${verdictText(verdicts)}\n\n${conditions()}`);
  if (!isForThePage) return;
  const how = values.quick ? ["A quick run: a quarter of the samples, and of the waits for rest."] : [];
  write([conditions(), ...how, ...left, verdictText(verdicts)].join("\n\n"));
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
