import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { transformSync } from "esbuild";
import { expectNothingLeft } from "./support/resources";

const ROOT = join(__dirname, "..");
const SOURCES = join(ROOT, "src");

/** What each part of src/ may import besides itself: imports point down only. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "errors.ts": [],
  "backoff.ts": [],
  "pause.ts": [],
  "kubelet-roots.ts": [],
  "mounts.ts": [],
  "guarded-call.ts": [],
  "resource-name.ts": [],
  "near-word.ts": [],
  "refuse-option.ts": ["errors.ts", "near-word.ts"],
  "host-path.ts": ["kubelet-roots.ts", "mounts.ts"],
  logging: ["errors.ts", "guarded-call.ts"],
  sockets: ["errors.ts", "backoff.ts", "pause.ts", "mounts.ts", "logging"],
  "event-source.ts": ["errors.ts", "guarded-call.ts", "refuse-option.ts"],
  options: ["errors.ts", "near-word.ts", "pause.ts", "refuse-option.ts", "logging", "sockets"],
  grpc: ["errors.ts", "logging", "sockets"],
  registrar: [
    "refuse-option.ts",
    "errors.ts",
    "backoff.ts",
    "event-source.ts",
    "pause.ts",
    "kubelet-roots.ts",
    "resource-name.ts",
    "mounts.ts",
    "host-path.ts",
    "logging",
    "options",
    "sockets",
    "grpc",
  ],
  serving: [
    "near-word.ts",
    "refuse-option.ts",
    "errors.ts",
    "guarded-call.ts",
    "pause.ts",
    "logging",
    "options",
    "sockets",
    "grpc",
    "registrar",
  ],
  // It only listens: what it listens to knows nothing of it, and nobody but cli starts it, and doctor asks with its client.
  "node-readiness": [
    "refuse-option.ts",
    "errors.ts",
    "backoff.ts",
    "pause.ts",
    "resource-name.ts",
    "logging",
    "options",
    "registrar",
  ],
  // What a node's readiness tells is served; types alone.
  diagnostics: ["errors.ts", "logging", "sockets", "grpc", "registrar", "node-readiness"],
  // What kubelet and the API server accept; for doctor and the simulated kubelet.
  "kubelet-rules": ["errors.ts", "resource-name.ts"],
  // Development and tests, and tools beside the product: nothing above this line imports them.
  simulator: [
    "errors.ts",
    "event-source.ts",
    "guarded-call.ts",
    "resource-name.ts",
    "logging",
    "options",
    "sockets",
    "grpc",
    "kubelet-rules",
  ],
  manifest: ["errors.ts", "kubelet-roots.ts", "resource-name.ts", "sockets", "registrar", "node-readiness"],
  doctor: [
    "near-word.ts",
    "errors.ts",
    "kubelet-roots.ts",
    "mounts.ts",
    "host-path.ts",
    "logging",
    "options",
    "sockets",
    "grpc",
    "registrar",
    "node-readiness",
    "kubelet-rules",
  ],
  cli: [
    "near-word.ts",
    "event-source.ts",
    "errors.ts",
    "pause.ts",
    "kubelet-roots.ts",
    "mounts.ts",
    "host-path.ts",
    "logging",
    "options",
    "sockets",
    "grpc",
    "registrar",
    "node-readiness",
    "diagnostics",
    "kubelet-rules",
    "simulator",
    "manifest",
    "doctor",
  ],
  // What npm users import.
  "index.ts": ["errors.ts", "event-source.ts", "logging", "options", "grpc", "registrar", "serving"],
  "testing.ts": ["event-source.ts", "logging", "options", "grpc", "kubelet-rules", "simulator"],
};

/** The commands that a simulated kubelet or driver is for; the event lines are theirs. */
const SIMULATING = /^cli\/(?:event-lines\.ts|commands\/(?:demo|driver|kubelet|legacy)(?:\/.*)?(?:\.ts)?)$/;

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .sort();

const files = filesIn(SOURCES);
const textOf = (file: string) => readFileSync(join(SOURCES, file), "utf8");
const partOf = (file: string) => file.split("/")[0] ?? file;

/** The source files that one imports, for types or values, at once or when it is called. */
function importsOf(file: string): readonly string[] {
  const specifiers = textOf(file).matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g);
  return Array.from(specifiers, ([, specifier = ""]) => {
    const target = join(SOURCES, dirname(file), specifier);
    const found = [`${target}.ts`, join(target, "index.ts"), target].find(existsSync);
    if (!found) throw new Error(`${file} imports ${specifier}, which is not there`);
    return relative(SOURCES, found);
  });
}

/** The rooms of two files: below the folder that both are in, the folder or file that each one begins with. */
function roomsOf(one: string, other: string): readonly [string, string] {
  const [ones, others] = [one.split("/"), other.split("/")];
  const depth = ones.findIndex((part, index) => part !== others[index]) + 1;
  return [ones.slice(0, depth).join("/"), others.slice(0, depth).join("/")];
}

/** At every depth, the folders and files beside each other that import each other in a circle. */
function findCircles(): readonly string[] {
  const graph = new Map<string, Set<string>>();
  for (const file of files)
    for (const [one, other] of importsOf(file).map((to) => roomsOf(file, to)))
      graph.set(one, (graph.get(one) ?? new Set()).add(other));
  const reachedFrom = (room: string, reached = new Set<string>()) => {
    for (const next of graph.get(room) ?? []) if (!reached.has(next)) reachedFrom(next, reached.add(next));
    return reached;
  };
  const reach = new Map(Array.from(graph.keys(), (room) => [room, reachedFrom(room)]));
  const circleOf = (room: string) => [...(reach.get(room) ?? [])].filter((one) => reach.get(one)?.has(room));
  return [...new Set(Array.from(graph.keys(), (room) => circleOf(room).toSorted().join(" <-> ")))]
    .filter((circle) => circle !== "")
    .toSorted();
}

test("the imports are found at all", () => {
  expect(importsOf("index.ts")).toContain("registrar/start-registrar.ts");
  expect(importsOf("cli/main.ts")).toContain("cli/commands/register.ts");
});

test.each([...new Set(files.map(partOf))])("%s imports what lies below it only", (part) => {
  const allowed = MAY_IMPORT[part];
  if (!allowed) throw new Error(`say in MAY_IMPORT what src/${part} may import`);
  const others = files
    .filter((file) => partOf(file) === part)
    .flatMap((file) => importsOf(file).map((imported) => ({ file, imported })))
    .filter(({ imported }) => partOf(imported) !== part);
  expect(others.filter(({ imported }) => !allowed.includes(partOf(imported)))).toEqual([]);
});

test("nothing but the test kit, and the commands that show or replace parts of a node, imports the simulator", () => {
  const importers = files.filter((file) =>
    importsOf(file).some((imported) => partOf(imported) === "simulator"),
  );
  const others = importers.filter((file) => !["simulator", "testing.ts"].includes(partOf(file)));
  expect(others.filter((file) => !SIMULATING.test(file))).toEqual([]);
});

test("no folder or file imports another that imports it, at any depth, not even for a type", () => {
  expect(roomsOf("a/b/c.ts", "a/d.ts")).toEqual(["a/b", "a/d.ts"]);
  expect(findCircles()).toEqual([]);
});

test("the tools at the top of src/ import nothing of its folders", () => {
  const tools = Object.entries(MAY_IMPORT).filter(([part]) => /^(?!index|testing).*\.ts$/.test(part));
  expect(tools.filter(([, allowed]) => !allowed.every((part) => part.endsWith(".ts")))).toEqual([]);
});

/** What else uses `process`, and why. */
const USE_PROCESS: Readonly<Record<string, string>> = {
  "sockets/dot-socket.ts": "the umask, around the bind of a socket",
};

test("process is used by the command line only", () => {
  // esbuild replaces the global identifier, and neither words in texts nor names of fields.
  const usesProcess = (file: string) =>
    transformSync(textOf(file), { loader: "ts", define: { process: "theGlobalProcess" } }).code.includes(
      "theGlobalProcess",
    ) || /globalThis\.process|"(?:node:)?process"/.test(textOf(file));
  expect(usesProcess("cli/main.ts")).toBe(true);
  expect(files.filter((file) => partOf(file) !== "cli" && usesProcess(file))).toEqual(
    Object.keys(USE_PROCESS),
  );
});

test.each([
  ["mutable module variable", /^(?:export )?(?:let|var) /m],
  ["default export", /^export default\b/m],
  ["enum", /^(?:export )?(?:declare )?(?:const )?enum /m],
  ["class that is no error", /^(?:export )?(?:abstract )?class \w+ (?!extends \w*Error\b)/m],
])("there is no %s", (_what, pattern) => {
  expect(files.filter((file) => pattern.test(textOf(file)))).toEqual([]);
});

test("no file that somebody writes is longer than 250 lines, tests included", () => {
  const all = [
    ...files.map((file) => join("src", file)),
    ...filesIn(__dirname).map((file) => join("test", file)),
  ];
  const linesOf = (file: string) => readFileSync(join(ROOT, file), "utf8").trimEnd().split("\n").length;
  expect(all.filter((file) => linesOf(file) > 250)).toEqual(["src/grpc/contracts.ts"]);
});

test("importing a module does nothing: prints nothing, starts nothing, listens to nothing", () =>
  expectNothingLeft(async () => {
    const prints = [jest.spyOn(process.stdout, "write"), jest.spyOn(process.stderr, "write")];
    const listened = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const before = listened();
    jest.isolateModules(() => {
      for (const file of files.filter((one) => one !== "cli/main.ts"))
        jest.requireActual(join(SOURCES, file));
    });
    expect(listened()).toEqual(before);
    for (const print of prints) {
      expect(print).not.toHaveBeenCalled();
      print.mockRestore();
    }
  }));

test("installing the package runs nothing", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
});
