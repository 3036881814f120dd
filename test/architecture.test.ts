import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { filesBelow, ROOT, readText } from "./docs/markdown";
import { expectNothingLeft } from "./support/resources";

const SOURCES = join(ROOT, "src");

/** The rooms of src/ from the ground up. Each imports those before it only. */
const ROOMS: readonly string[] = [
  ...["base", "logging", "unix", "options", "kubelet-rules", "host-path", "grpc", "registrar", "serving"],
  ...["simulator", "kube-api", "node-readiness", "diagnostics", "flags", "runtime", "tools", "cli"],
  ...["index.ts", "testing.ts", "grpc-js.ts"],
];

/** The tools that a simulated kubelet or driver is for; the event lines are theirs. */
const SIMULATING = /^tools\/(?:event-lines\.ts|(?:demo|legacy|simulate)\/.*)$/;

const files = filesBelow("src", ".ts")
  .map((file) => relative("src", file))
  .sort();
const textOf = (file: string) => readText(join("src", file));
const partOf = (file: string) => file.split("/")[0] ?? file;

function importsOf(file: string): readonly string[] {
  const specifiers = textOf(file).matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g);
  return Array.from(specifiers, ([, specifier = ""]) => {
    const target = join(SOURCES, dirname(file), specifier);
    const found = [`${target}.ts`, join(target, "index.ts"), target].find(existsSync);
    if (!found) throw new Error(`${file} imports ${specifier}, which is not there`);
    return relative(SOURCES, found);
  });
}

function roomsOf(one: string, other: string): readonly [string, string] {
  const [ones, others] = [one.split("/"), other.split("/")];
  const depth = ones.findIndex((part, index) => part !== others[index]) + 1;
  return [ones.slice(0, depth).join("/"), others.slice(0, depth).join("/")];
}

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

test.each([...new Set(files.map(partOf))])("%s imports rooms below it only", (room) => {
  expect(ROOMS).toContain(room);
  const below = ROOMS.slice(0, ROOMS.indexOf(room) + 1);
  const others = files
    .filter((file) => partOf(file) === room)
    .flatMap((file) => importsOf(file).map((imported) => ({ file, imported })));
  expect(others.filter(({ imported }) => !below.includes(partOf(imported)))).toEqual([]);
});

test("nothing but the test kit, and the commands that show or replace parts of a node, imports the simulator", () => {
  const importers = files.filter((file) =>
    importsOf(file).some((imported) => partOf(imported) === "simulator"),
  );
  const others = importers.filter((file) => !["simulator", "testing.ts"].includes(partOf(file)));
  expect(others.filter((file) => !SIMULATING.test(file))).toEqual([]);
});

test("only the table of commands imports the tools, and loads each when it is used", () => {
  const importers = files.filter((file) => importsOf(file).some((imported) => partOf(imported) === "tools"));
  expect(importers.filter((file) => partOf(file) !== "tools")).toEqual(["cli/commands.ts"]);
  expect(textOf("cli/commands.ts")).not.toMatch(/\bfrom "[^"]*tools/);
});

/** What only a registration with the flags of node readiness loads, and the tools that judge these flags. */
const OF_NODE_READINESS = /^(?:node-readiness|kube-api)\/|^(?:cli|diagnostics|flags)\/node-readiness\.ts$/;

test("a registration imports node readiness in one place, and loads it only with its flags", () => {
  const importers = files.filter((file) =>
    importsOf(file).some((imported) => OF_NODE_READINESS.test(imported)),
  );
  const others = importers.filter((file) => partOf(file) !== "tools" && !OF_NODE_READINESS.test(file));
  expect(others).toEqual(["cli/register.ts"]);
  expect(textOf("cli/register.ts")).not.toMatch(/\bfrom "[^"]*(?:node-readiness|kube-api)/);
});

test("no folder or file imports another that imports it, at any depth, not even for a type", () => {
  expect(importsOf("cli/main.ts")).toContain("cli/register.ts");
  expect(roomsOf("a/b/c.ts", "a/d.ts")).toEqual(["a/b", "a/d.ts"]);
  expect(findCircles()).toEqual([]);
});

test.each([
  ["mutable module variable", /^(?:export )?(?:let|var) /m],
  // Biome finds a promise without a handler, except behind `void`.
  ["promise whose rejection ends the process", /(?:^|[;)]|\belse)\s+void\s+\w/m],
  ["class that is no error", /^(?:export )?(?:abstract )?class \w+ (?!extends \w*Error\b)/m],
])("there is no %s", (_what, pattern) => {
  expect(files.filter((file) => pattern.test(textOf(file)))).toEqual([]);
});

/**
 * Durations are measured with `performance.now()`: the time of day may go back by an hour, and a wait with it. Where the
 * time of day itself is meant, it is said here why.
 */
const TIME_OF_DAY: Readonly<Record<string, string>> = {
  "registrar/model/counters.ts": "when kubelet called, for people",
  "registrar/registration/view.ts": "when a state changed, for people",
  "logging/klog-sink.ts": "the time on a log line",
  "node-readiness/condition-keeper.ts": "when a condition changed, as it is written",
  "node-readiness/csi-node-keeper.ts": "since when CSINode lacks a driver, for people",
  "node-readiness/taint-keeper.ts": "how long after its registration a driver's taint went, for people",
  "node-readiness/start-node-readiness.ts": "since when the API server fails, for people",
  "diagnostics/http/connection.ts": "the Date of an answer",
  "tools/doctor/cluster/read/list-api.ts": "the API server's time of an answer, where it tells none",
  "tools/doctor/cluster/read/reader.ts": "compared with the API server's times",
  "tools/doctor/node/read/gather.ts": "compared with the time of a registrar's state",
  "simulator/event-stream.ts": "when an event happened, for people",
  "cli/register.ts": "when the process started, as Prometheus wants it",
  "grpc/call-watch.ts": "whether grpc-js' deadline of a call has passed",
  "grpc/client/unary.ts": "a deadline, which grpc-js takes as a time of the day",
};

test("only the listed files read the time of day", () => {
  const lookers = files.filter((file) => /\bDate\.now\b|\bnew Date\(\)/.test(textOf(file)));
  expect(lookers).toEqual(Object.keys(TIME_OF_DAY).sort());
});

/** What dials the path of a unix socket, which a file system that hangs stops on the main thread. */
const DIALS: Readonly<Record<string, string>> = {
  "unix/unix-socket.ts": "looks at the path first; all others dial by it",
  "grpc/client/unary.ts": "grpc-js dials here, after the same look",
  "kube-api/request.ts": "the socket of kubectl proxy, in a directory that doctor makes",
};

test("one file dials the path of a socket", () => {
  const dials = [
    /import \{[^}]*(?<!type )\b(?:connect|createConnection|Socket)\b[^}]*\} from "node:(?:net|tls)"/,
    /import \* as \w+ from "node:(?:net|tls|http2?|https)"/,
    /\bnew Client\(/,
    /import \{[^}]*(?<!type )\b(?:request|get)\b[^}]*\} from "node:http"/,
    /\bconnectHttp2\((?![^;]*createConnection)/,
  ];
  const dialers = files.filter((file) => dials.some((one) => one.test(textOf(file))));
  expect(dialers).toEqual(Object.keys(DIALS).sort());
});

/** A log call as the build stamps it with its line: scripts/log-lines.mjs. */
const STAMPED = /\blog\.(?:v\([^\n]*?\)\.)?(?:info|warn|error)\(/g;
/** They write what was stamped where it was logged. */
const FORWARDING = ["logging/json-line.ts", "logging/logger-option.ts"];

test("every log call is one that the build stamps with its line", () => {
  const callsIn = (text: string) => text.match(/\.(?:info|warn|error|v)\s*\(/g)?.length ?? 0;
  expect(files.some((file) => callsIn(textOf(file)) > 5)).toBe(true);
  const unstamped = files.filter((file) => callsIn(textOf(file).replace(STAMPED, "")) > 0);
  expect(unstamped).toEqual(FORWARDING);
});

const SHARED_NAMES: readonly RegExp[] = [
  /^(?:ok|unknown|warning|problem): .*each-registrar.ts .*findings\/finding.ts$/, // The same, with the container's place.
];

test("no two files export the same name", () => {
  const exported = /^export (?:declare |abstract |async )*(?:const|function\*?|interface|type|class) (\w+)/gm;
  const filesOf = new Map<string, Set<string>>();
  for (const file of files)
    for (const [, name = ""] of textOf(file).matchAll(exported))
      filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file));
  expect(filesOf.get("startRegistrar")).toEqual(new Set(["registrar/start-registrar.ts"]));
  const shared = [...filesOf].filter(([, { size }]) => size > 1);
  const told = shared.map(([name, places]) => `${name}: ${[...places].join(" ")}`);
  expect(told.filter((one) => !SHARED_NAMES.some((known) => known.test(one)))).toEqual([]);
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
