import { execFileSync } from "node:child_process";
import { basename } from "node:path";
import { ROOT, readText } from "./docs/markdown";

const PRINT = `import("./scripts/left-out.mjs").then((module) => console.log(JSON.stringify(module.LEFT_OUT)))`;
const printed = execFileSync(process.execPath, ["-e", PRINT], { cwd: ROOT, encoding: "utf8" });
const leftOut: Readonly<Record<string, string | object>> = JSON.parse(printed);
const texts = Object.entries(leftOut).filter((row): row is [string, string] => typeof row[1] === "string");

const textOf = (part: string) => readText(`dist/cli/${part}.js`);
const modulesIn = (part: string) =>
  Array.from(textOf(part).matchAll(/"((?:node_modules\/|left-out:)[^"]+)"\(/g), ([, name = ""]) => name);

test("what is replaced is in the bundle as its replacement, and not as itself", () => {
  const all = ["main", "register", "grpc", "json-line", "metrics"].flatMap(modulesIn);
  const replacements = texts.map(([name]) => `left-out:${name}`);
  expect(all).toEqual(expect.arrayContaining(replacements));
  expect(texts.map(([name]) => `node_modules/${name}.js`).filter((name) => all.includes(name))).toEqual([]);
});

test("a sidecar reads grpc-js for unix sockets", () => {
  const modules = modulesIn("register");
  const grpc = (name: string) => `node_modules/@grpc/grpc-js/build/src/${name}.js`;
  expect(modules).toEqual(expect.arrayContaining(["client", "resolver-uds", "server"].map(grpc)));
  const never = ["index", "load-balancer-round-robin", "experimental"].map(grpc);
  expect(modules.filter((name) => never.includes(name))).toEqual([]);
  expect(modules.filter((name) => /pino|prom-client|yargs|proto-loader|protobufjs|long/.test(name))).toEqual(
    [],
  );
  expect(textOf("register").length).toBeLessThan(490_000);
});

test("a probe reads no package at all", () => {
  expect(modulesIn("main")).toEqual([]);
});

test("all parts share the state of calls that hang", () => {
  const ours = (part: string) => textOf(part).includes("function callFileSystem(");
  expect(["main", "register", "status", "doctor-node", "node-readiness"].filter(ours)).toEqual(["main"]);
});

/** The names by which other modules of the bundle use one of grpc-js, as TypeScript's compiler writes them. */
function usesOf(module: string): readonly string[] {
  const variable = `${basename(module).replace(/-/g, "_")}_1`;
  const uses = textOf("register").matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, "g"));
  return [...new Set(Array.from(uses, ([, name = ""]) => name))].sort();
}

test.each(texts.filter(([name]) => name.startsWith("@grpc/grpc-js/")))(
  "%s: what grpc-js uses of it is there",
  (name, text) => {
    const exported: Record<string, unknown> = {};
    new Function("exports", "require", text)(exported, require);
    const uses = usesOf(name);
    expect(uses).not.toEqual([]);
    expect(uses.filter((use) => !(use in exported))).toEqual([]);
  },
);
