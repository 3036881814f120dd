import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../support/child-process";
import { print } from "../support/run-main";
import { createTempFolder } from "../support/temp-folder";
import type { Result } from "./mutant";
import { BUILT_BEFORE, copyProject, isNoticed } from "./project-copy";
import type { PureGroup } from "./pure-files";

const DONE_WITHIN_MS = 60 * 60_000;
const CONFIG = "stryker.config.json";
/** How much slower than without a mutant a test may be, before the mutant counts as one that never ends. */
const SLOWER_BY_MS = 10_000;

export async function runPure(groups: readonly PureGroup[]): Promise<Result> {
  await using stryker = await createTempFolder();
  for (const name of ["package.json", "package-lock.json"])
    cpSync(join(__dirname, "stryker", name), stryker.at(name));
  await mustEnd("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], stryker.path);
  await using folder = await copyProject();

  const result: Result = { mutants: 0, noticed: 0 };
  for (const group of groups)
    for (const { file, noticed, others } of await runGroup(group, stryker.path, folder.path)) {
      const mutants = noticed + others.length;
      let more = 0;
      for (const { line, from, to, text } of others) {
        const isLater = group.deeper && (await isNoticed(folder.path, file, () => text, group.deeper));
        if (isLater) more += 1;
        print(`${isLater ? "THEN     " : "SURVIVED "} ${file}:${line}\n  - ${from}\n  + ${to}`);
      }
      const then = group.deeper ? `, ${more} more by ${group.deeper.join(", ")}` : "";
      print(`${noticed} of ${mutants} noticed${then}  ${file}`);
      result.mutants += mutants;
      result.noticed += noticed + more;
    }
  return result;
}

async function runGroup({ files, tests }: PureGroup, stryker: string, folder: string) {
  const at = (...names: readonly string[]) => join(stryker, "node_modules", "@stryker-mutator", ...names);
  const settings = {
    // The copy is there to be changed; Jest would not find the tests in a sandbox of Stryker's own.
    inPlace: true,
    mutate: files.map((file) => placeOf(file, folder)),
    mutator: { excludedMutations: ["StringLiteral"] },
    testRunner: "jest",
    plugins: [at("jest-runner", "dist", "src", "index.js")],
    jest: {
      projectType: "custom",
      configFile: "jest.config.js",
      enableFindRelatedTests: false,
      config: { testMatch: tests.map((path) => `<rootDir>/${path}`), reporters: [] },
    },
    coverageAnalysis: "perTest",
    concurrency: 1,
    timeoutMS: SLOWER_BY_MS,
    // Stryker's own reading of it does not know TypeScript 7, and esbuild needs none.
    tsconfigFile: "none.json",
    disableTypeChecks: false,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: "report.json" },
    allowConsoleColors: false,
  };
  writeFileSync(join(folder, CONFIG), JSON.stringify(settings));
  await mustEnd(process.execPath, [at("core", "bin", "stryker.js"), "run", CONFIG], folder, (line) => {
    if (line.includes("tested")) print(line);
  });
  return readStrykerReport(JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as StrykerReport);
}

/** A file, or its lines that have one function, as Stryker takes them. */
function placeOf(file: string, folder: string): string {
  const [path = "", name] = file.split("#");
  if (name === undefined) return path;
  const lines = readFileSync(join(folder, path), "utf8").split("\n");
  const first = lines.findIndex((line) => line.includes(`function ${name}(`));
  if (first === -1) throw new Error(`${path} has no function ${name}`);
  return `${path}:${first + 1}-${lines.indexOf("}", first) + 1}`;
}

async function mustEnd(
  command: string,
  args: readonly string[],
  cwd: string,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, {
    cwd,
    env: BUILT_BEFORE,
    lifeMs: DONE_WITHIN_MS,
    meanwhile: ({ stdout: output }) => output.follow(onLine),
  });
  if (code !== 0)
    throw new Error(`${command} ${args} ended with ${code}:\n${`${stdout}${stderr}`.slice(-4_000)}`);
}

type Position = Readonly<Record<"line" | "column", number>>;

interface ReportedMutant {
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly status: string;
}

/** The part of Stryker's JSON report (mutation-testing-elements, report schema 2) that is read here. */
interface StrykerReport {
  readonly files: Readonly<Record<string, { source: string; mutants: readonly ReportedMutant[] }>>;
}

const NOTICED = ["Killed", "Timeout"];
const UNNOTICED = ["Survived", "NoCoverage"];
/** The compiler sees to it that this is not reached. */
const UNREACHABLE = /satisfies never;/;

function readStrykerReport({ files }: StrykerReport) {
  return Object.entries(files).map(([file, { source, mutants }]) => ({
    file,
    noticed: mutants.filter(({ status }) => NOTICED.includes(status)).length,
    others: mutants
      .filter(({ status }) => UNNOTICED.includes(status))
      .map((mutant) => ({ line: mutant.location.start.line, ...changedLines(source, mutant) }))
      .filter(({ from }) => !UNREACHABLE.test(from)),
  }));
}

function changedLines(source: string, { location, replacement = "" }: ReportedMutant) {
  const { start, end } = location;
  const all = source.split("\n");
  const lines = all.slice(start.line - 1, end.line);
  const before = lines[0]?.slice(0, start.column - 1) ?? "";
  const after = lines.at(-1)?.slice(end.column - 1) ?? "";
  const changed = `${before}${replacement}${after}`;
  const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();
  return {
    from: inOneLine(lines.join("\n")),
    to: inOneLine(changed),
    text: [...all.slice(0, start.line - 1), changed, ...all.slice(end.line)].join("\n"),
  };
}
