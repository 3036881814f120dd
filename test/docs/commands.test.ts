import { scripts, version } from "../../package.json";
import { COMMANDS } from "../../src/cli/commands";
import { createRoutes } from "../../src/diagnostics";
import { parseFlags } from "../../src/flags/table";
import { pairPatterns } from "../../src/host-path/path-pattern";
import { silentLogger } from "../../src/logging/logger";
import { runCommand } from "../support/run-command";
import { parseAll } from "../support/yaml";
import { DOCUMENTS, fencesIn, filesBelow, isThere, readText } from "./markdown";

/** One command of a line of shell: its words, without quotes, redirections and assignments in front. */
type Words = readonly string[];

/** A comment, what ends a command, a redirection, or a word. */
const TOKEN = /#.*|[|&;]+|[<>]+\s*[^\s|&;<>]*|(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\|&;<>])+/g;

/** The commands of a `sh` fence: lines joined at `\`, cut at `&&`, `|` and `;`, comments left out. */
function commandsIn(fence: string): readonly Words[] {
  const lines = fence.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => splitCommands(line)).filter((words) => words.length > 0);
}

function splitCommands(line: string): readonly Words[] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(TOKEN)) {
    if (token.startsWith("#")) break;
    if (/^[|&;]/.test(token)) commands.push([]);
    else if (!/^[<>]/.test(token))
      commands.at(-1)?.push(token.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3"));
  }
  const isAssignment = (word: string) => /^[A-Z_]+=/.test(word);
  return commands.map((words) =>
    words.every(isAssignment) ? [] : words.slice(words.findIndex((word) => !isAssignment(word))),
  );
}

/** No deprecated flag, no one of former releases, no words behind the flags. */
const NOT_DEPRECATED = {
  ...{ ignored: [], rest: [], healthPort: 0, connectionTimeoutMs: 0 },
  mode: expect.stringMatching(/^(?:health-probe|ready-probe)?$/),
};

const dockerfile = readText("Dockerfile");
const PATHS = [
  ...createRoutes(
    { kind: "sidecar", registrars: [], subscribe: () => () => {} } as never,
    { metricsPath: "/metrics", requireDriver: false, profiledCommandLine: [] },
    { log: silentLogger, facts: {} as never },
  ).keys(),
];

/** The sidecar's line is read by its own parser, which must not have a word to say against it. */
function checkSidecar(words: Words): void {
  const line = parseFlags(words);
  expect(line).toMatchObject({ kind: "flags", flags: NOT_DEPRECATED });
  if (line.kind !== "flags") return;
  const { csiAddress, kubeletRegistrationPath } = line.flags.every;
  if (csiAddress.some((path) => path.includes("*"))) pairPatterns(csiAddress, kubeletRegistrationPath);
}

/** A command's own parser reads the line, too, and finds nothing wrong but a flag of ours behind it. */
async function checkRegistrar(words: Words): Promise<void> {
  if (!COMMANDS.some(({ name }) => name === words[0])) {
    checkSidecar(words);
    return;
  }
  const { status, stderr } = await runCommand(...words, "--our-own");
  expect(stderr).toContain("there is no flag --our-own;");
  expect(status).toBe(2);
}

/** What must be true of the words behind the name of a program; of other programs, nothing. */
const PROGRAMS: Readonly<Record<string, (words: Words) => void | Promise<void>>> = {
  registrar: checkRegistrar,
  "/csi-node-driver-registrar": checkRegistrar,
  npx: ([first = "", ...more]) => {
    if (first !== "--yes") return check([first, ...more]);
    expect(more[0]).toBe(`./registrar-${version}.tgz`);
    return check(["registrar", ...more.slice(1)]);
  },
  npm: ([verb = "", script = ""]) => {
    if (verb === "run") expect(scripts).toHaveProperty([script]);
  },
  kubectl: async (words) => {
    const inside = words.indexOf("--");
    if (inside >= 0) await check(words.slice(inside + 1));
  },
  curl: (words) => {
    const url = words.find((word) => word.startsWith("localhost:")) ?? "";
    expect(PATHS).toContain(new URL(`http://${url}`).pathname);
  },
  docker: (words) => {
    for (const [at, word] of words.entries())
      if (word === "--build-arg") expect(dockerfile).toContain(`ARG ${words[at + 1]?.split("=")[0]}=`);
  },
  node: async ([file = "", ...words]) => {
    if (file === "dist/cli.js") await checkRegistrar(words);
    else expect(isThere(file)).toBe(true);
  },
  "proto-loader-gen-types": (words) =>
    expect(readText("examples/driver/package.json")).toContain(words.join(" ")),
  cosign: ([verb = "", ...words]) => {
    const type = words[words.indexOf("--type") + 1];
    expect(readText("scripts/release/publish.mjs")).toContain(
      verb === "verify" ? '"sign"' : `--type=${type}`,
    );
  },
  ...Object.fromEntries(["tsc", "jest", "bash"].map((program) => [program, namesFile])),
};

function namesFile(words: Words): void {
  for (const word of words.filter((one) => one.includes("/"))) expect(isThere(word)).toBe(true);
}

const check = async ([program = "", ...words]: Words): Promise<void> => PROGRAMS[program]?.(words);

test.each(DOCUMENTS)("each command of %s is one that works", async (path) => {
  const lines = new Map(
    fencesIn(readText(path), "sh")
      .flatMap(commandsIn)
      .map((words) => [words.join(" "), words]),
  );
  const wrong: string[] = [];
  for (const [line, words] of lines)
    await check(words).catch((error: Error) => wrong.push(`${line}: ${error.message}`));
  expect(wrong).toEqual([]);
});

test("every fence names its language", () => {
  expect(DOCUMENTS.filter((path) => fencesIn(readText(path), "").length > 0)).toEqual([]);
});

// The doctor judges the examples as a whole (test/tools/doctor/command-files.test.ts); the pages show pieces.

const PIECES = [
  ...DOCUMENTS.flatMap((path) => fencesIn(readText(path), "yaml")),
  ...filesBelow("examples", ".yaml").map(readText),
];
const READ = PIECES.flatMap((text) => parseAll(text));

type Tree = { readonly [key: string]: unknown };
function objectsIn(value: unknown): readonly Tree[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value as Tree, ...Object.values(value).flatMap(objectsIn)];
}
const withField = (field: string) =>
  READ.flatMap((document) => objectsIn(document)).filter((object) => field in object);
const wordsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

test("YAML on the pages and in examples gives registrar only current flags", () => {
  const lines = withField("args").flatMap(({ args, command }) => [wordsOf(args), wordsOf(command).slice(1)]);
  const ours = lines.filter((args) => args.some((word) => word.startsWith("--csi-address")));
  expect(ours.length).toBeGreaterThan(3);
  for (const line of ours) checkSidecar(line);
});

test("probes in YAML ask paths that are served", () => {
  const asked = withField("httpGet").map(({ httpGet }) => String((httpGet as Tree).path).split("?")[0]);
  expect(PATHS).toEqual(expect.arrayContaining([...new Set(asked)]));
});
