import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { filesBelow, ROOT, readText } from "../docs/markdown";
import { run, succeeded } from "../support/child-process";
import { createRandom } from "../support/random";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

type Position = Readonly<Record<"line" | "column", number>>;
interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A mutant as Stryker's instrumenter describes it. */
interface Instrumented {
  readonly fileName: string;
  readonly id: string;
  readonly location: Range;
  readonly mutatorName: string;
  readonly replacement: string;
}

interface SourceFile {
  readonly name: string;
  readonly content: string;
  readonly mutate: boolean | readonly Range[];
}

interface Instrumenter {
  instrument(
    files: readonly SourceFile[],
    options: object,
  ): Promise<{ files: readonly SourceFile[]; mutants: readonly Instrumented[] }>;
}

export interface Mutant {
  /** A process of the copy plays those that `__STRYKER_ACTIVE_MUTANT__` has, with commas between them. */
  id: string;
  readonly file: string;
  readonly line: number;
  /** The change, for people. */
  readonly what: string;
  readonly range: Range;
}

/** The build writes it. */
const LEFT_OUT = "src/grpc/contracts.ts";
/** The compiler sees to it that this is not reached. */
const UNREACHABLE = /satisfies never/;
const BUNDLE = 'import("./scripts/cli-parts.mjs").then((m) => m.bundleCli({ name: "none", setup() {} }))';

/** What Stryker's code asks of each mutant that it comes to, and what it asks here, where several may be on. */
const ASKS_FOR_ONE = "ns.activeMutant === id";
const ASKS_FOR_SOME = '(ns.activeMutants ??= new Set((ns.activeMutant ?? "").split(","))).has(id)';

/** All mutants of the sources, and a copy of the project that can play some of them. */
export async function createMutants() {
  const stryker = await createTempFolder();
  const copy = await copyProject();
  const instrument = await installInstrumenter(stryker);
  const sources = filesBelow("src", ".ts").filter((file) => file !== LEFT_OUT);
  const { mutants } = await instrument(
    sources.map((name) => ({ name, content: readText(name), mutate: true })),
  );
  return {
    path: copy.path,
    all: mutants.map(mutantOf).filter(({ what }) => !UNREACHABLE.test(what)),
    /** Writes the sources with these in them, none active, and bundles the CLI of them. */
    plant: async (chosen: readonly Mutant[]) => {
      const files = [...new Set(chosen.map(({ file }) => file))].map((name) => ({
        ...{ name, content: readText(name) },
        mutate: chosen.filter(({ file }) => file === name).map(({ range }) => range),
      }));
      const planted = await instrument(files);
      for (const { name, content } of planted.files) {
        if (!content.includes(ASKS_FOR_ONE)) throw new Error(`${name}: Stryker's code has changed`);
        writeFileSync(join(copy.path, name), content.replaceAll(ASKS_FOR_ONE, ASKS_FOR_SOME));
      }
      const ids = new Map(planted.mutants.map((one) => [keyOf(mutantOf(one)), one.id]));
      for (const mutant of chosen) mutant.id = ids.get(keyOf(mutant)) ?? "";
      succeeded(await run(process.execPath, ["--eval", BUNDLE], { cwd: copy.path }));
    },
    [Symbol.asyncDispose]: async () => {
      await stryker[Symbol.asyncDispose]();
      await copy[Symbol.asyncDispose]();
    },
  };
}

/** As many of them as there are or `most`, as the seed says. */
export function draw(all: readonly Mutant[], most: number, seed: number): readonly Mutant[] {
  const random = createRandom(seed);
  const rest = [...all];
  return Array.from({ length: Math.min(most, all.length) }, () =>
    rest.splice(Math.floor(random() * rest.length), 1),
  ).flat();
}

const keyOf = ({ file, range, what }: Mutant) => JSON.stringify([file, range, what]);

function mutantOf({ fileName, id, location, replacement }: Instrumented): Mutant {
  const { start, end } = location;
  const lines = readText(fileName)
    .split("\n")
    .slice(start.line, end.line + 1);
  const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();
  const from = lines
    .join("\n")
    .slice(start.column, lines.join("\n").length - (lines.at(-1) ?? "").length + end.column);
  const what = `${inOneLine(from)} -> ${inOneLine(replacement)}`;
  return { id, file: fileName, line: start.line + 1, what, range: location };
}

async function installInstrumenter(folder: TempFolder) {
  for (const name of ["package.json", "package-lock.json"])
    cpSync(join(__dirname, "stryker", name), folder.at(name));
  const flags = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  succeeded(await run("npm", flags, { cwd: folder.path, lifeMs: 600_000 }));
  const { Instrumenter } = createRequire(folder.at("package.json"))("@stryker-mutator/instrumenter");
  const quiet = new Proxy({}, { get: () => () => false });
  const instrumenter: Instrumenter = new Instrumenter(quiet);
  return (files: readonly SourceFile[]) =>
    instrumenter.instrument(files, { plugins: null, excludedMutations: [], ignorers: [], noHeader: false });
}

async function copyProject(): Promise<TempFolder> {
  const folder = await createTempFolder();
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).split("\0").filter(existsSync);
  for (const file of files) {
    mkdirSync(dirname(folder.at(file)), { recursive: true });
    cpSync(join(ROOT, file), folder.at(file));
  }
  cpSync(join(ROOT, "dist"), folder.at("dist"), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), folder.at("node_modules"));
  return folder;
}
