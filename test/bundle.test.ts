import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { basename } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { dependencies } from "../package.json";
import { codeIn, ROOT, readText, rowsIn } from "./docs/markdown";

/** The value of an expression, such as `(await import("./scripts/left-out.mjs")).LEFT_OUT`, in a process that can import it. */
function evaluate<Value>(expression: string): Value {
  const print = `process.stdout.write(JSON.stringify(${expression}))`;
  const options = { cwd: ROOT, encoding: "utf8" } as const;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "--eval", print], options));
}

const leftOut: Readonly<Record<string, string | object>> = evaluate(
  `(await import("./scripts/left-out.mjs")).LEFT_OUT`,
);
const texts = Object.entries(leftOut).filter((row): row is [string, string] => typeof row[1] === "string");

const GRPC_JS = "node_modules/@grpc/grpc-js";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const textOf = (part: string) => readText(`dist/cli/${part}.js`);
const modulesIn = (part: string) =>
  Array.from(textOf(part).matchAll(/"((?:node_modules\/|left-out:)[^"]+)"\(/g), ([, name = ""]) => name);

test("the bundle has our replacements and not the modules that they replace", () => {
  const all = ["main", "register", "grpc", "proto-loader", "json-line", "metrics"].flatMap(modulesIn);
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
  expect(textOf("register").length).toBeLessThan(470_000);
});

test.each([
  ["node-wide", "createNodeDrivers"],
  ["node-readiness", "runNodeReadiness"],
  ["diagnostics", "createRoutes"],
  ["probe", "runProbe"],
])("a sidecar reads nothing of %s without its flags, and both use the same gRPC", (own, name) => {
  const has = (part: string) => textOf(part).includes(`function ${name}(`);
  expect(["main", "register", own].filter(has)).toEqual([own]);
  expect(modulesIn(own)).toEqual([]);
});

test("a probe reads no package at all", () => {
  expect(["main", "probe"].flatMap(modulesIn)).toEqual([]);
});

test.each([
  ["calls that hang", "callFileSystem", "main"],
  ["watches", "watchDirectory", "register"],
  ["polls", "pollDirectory", "register"],
])("all parts share the state of %s", (_what, name, owner) => {
  const ours = (part: string) => textOf(part).includes(`function ${name}(`);
  const ofTools = ["status", "doctor-node"];
  const parts = [...ofTools, "main", "register", "probe", "diagnostics", "node-wide", "node-readiness"];
  expect(parts.filter(ours)).toEqual([owner]);
});

/** The names by which other modules of the bundle use one of grpc-js, as TypeScript's compiler writes them. */
function usesOf(module: string): readonly string[] {
  const variable = `${basename(module).replace(/-/g, "_")}_1`;
  const uses = textOf("register").matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, "g"));
  return [...new Set(Array.from(uses, ([, name = ""]) => name))].sort();
}

test.each(texts.filter(([name]) => name.startsWith("@grpc/grpc-js/")))(
  "our replacement of %s exports what grpc-js uses of it",
  (name, text) => {
    const exported: Record<string, unknown> = {};
    new Function("exports", "require", text)(exported, require);
    const uses = usesOf(name);
    expect(uses).not.toEqual([]);
    expect(uses.filter((use) => !(use in exported))).toEqual([]);
  },
);

test("our subchannel pool has the methods that channels call", () => {
  const exported: { getSubchannelPool?: () => object } = {};
  const [, text = ""] = texts.find(([name]) => name.endsWith("/subchannel-pool")) ?? [];
  new Function("exports", "require", text)(exported, () => ({}));
  const calls = Array.from(textOf("register").matchAll(/subchannelPool\.(\w+)/g), ([, name = ""]) => name);
  expect(Object.keys(exported.getSubchannelPool?.() ?? {})).toEqual([...new Set(calls)]);
});

/** Of what is replaced, and of the functions in whose place ours are: read what changed before you change one. */
const REPLACED: Readonly<Record<string, string>> = {
  index: "248fae70078a",
  channelz: "c8ced113810f",
  http_proxy: "4a6c7b2ff90a",
  "subchannel-pool": "cca88948f2cb",
  orca: "66c2fee56053",
  _createSecureConnector: "1f02f2de6b34",
  _equals: "6605ef865667",
  _streamHandler: "4aaefa982df1",
  _channelzHandler: "9ef314188e3d",
};

test("the parts of grpc-js that we replace are those that we read, in the pinned version", () => {
  const { version } = JSON.parse(readText(`${GRPC_JS}/package.json`));
  expect(dependencies["@grpc/grpc-js"]).toBe(version);
  const [internals, insecure] = [new grpc.Server(), grpc.credentials.createInsecure()];
  const textNow = (name: string) =>
    name.startsWith("_")
      ? String(Reflect.get(name in insecure ? insecure : internals, name))
      : readText(`${GRPC_JS}/build/src/${name}.js`);
  const now = Object.keys(REPLACED).map((name) => [name, sha256(textNow(name)).slice(0, 12)]);
  expect(Object.fromEntries(now)).toEqual(REPLACED);
  const told = rowsIn(readText("docs/dependencies.md")).flatMap(([cell = ""]) => codeIn(cell));
  for (const name of Object.keys(REPLACED).slice(1))
    expect(told).toContain(name.replace(/^(?=[a-z])/, "build/src/"));
  const modules = Object.keys(leftOut).filter((name) => name.startsWith("@grpc/grpc-js"));
  expect(modules.map((name) => basename(name).replace("grpc-js", "index")).sort()).toEqual(
    Object.keys(REPLACED)
      .filter((name) => !name.startsWith("_"))
      .sort(),
  );
});

test("docs/security.md says what a node runs; if not, run npm run pages", () => {
  const table: string = evaluate(`await (await import("./scripts/cli-parts.mjs")).readClosure()`);
  expect(readText("docs/security.md")).toContain(`<!-- closure: written by npm run pages -->\n${table}<!--`);
  expect(table.match(/^\| every registration \| \d+00 \| \d+0 \| @grpc\/grpc-js \|$/m)).not.toBeNull();
});
