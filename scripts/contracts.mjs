// The two wire contracts: proto/ -> src/grpc/contracts.ts, the types of their messages and methods (proto-loader's own
// generator writes them) and their descriptors. test/grpc/contracts.test.ts fails where those are not current.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import protobuf from "protobufjs";

/** Writes all of it into a file. */
export function writeContracts(file) {
  const protos = readdirSync("proto");
  const root = protobuf.loadSync(protos.map((name) => join("proto", name)));
  root.resolveAll();
  const services = Object.fromEntries(
    servicesIn(root).map((service) => [nameOf(service), methodsOf(service)]),
  );
  const parts = [
    "// Written by `npm run build` from proto/: do not edit.",
    'import type { MethodDefinition } from "@grpc/proto-loader";',
    ...typesOf(protos),
    `/** By service and method, with the messages that each needs. */\nexport const DESCRIPTORS = ${linesOf(services)};`,
  ];
  writeFileSync(file, `${parts.join("\n\n")}\n`);
}

/** One line a method: a reader looks at proto/, and types at what is above. */
function linesOf(services) {
  const lines = Object.entries(services).flatMap(([service, methods]) => [
    `  ${JSON.stringify(service)}: {`,
    ...Object.entries(methods).map(([name, descriptor]) => `    ${name}: ${JSON.stringify(descriptor)},`),
    "  },",
  ]);
  return ["{", ...lines, "}"].join("\n");
}

/** What proto-loader's generator writes: a file for each message and service, that import each other by long names. */
function typesOf(protos) {
  const folder = mkdtempSync(join(tmpdir(), "contracts-"));
  try {
    execFileSync("node_modules/.bin/proto-loader-gen-types", [
      `--outDir=${folder}`,
      "--includeDirs=proto",
      // As src/grpc/protos.ts loads them.
      ...["--defaults", "--longs=Number", "--enums=String"],
      // `PluginInfo` is what comes out of a call, complete; `PluginInfoInput` what may be given to one.
      ...["--inputTemplate=%sInput", "--outputTemplate=%s", "--includeComments"],
      ...protos,
    ]);
    const isMessageOrService = ({ parentPath, name }) => parentPath !== folder && name.endsWith(".ts");
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isMessageOrService(entry))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => {
        const text = readFileSync(path, "utf8");
        const imports = text.match(/^import .*/gm)?.join() ?? "";
        const names = imports.matchAll(/(\w+) as (\w+)/g);
        const longNames = new Map(Array.from(names, ([, short, long]) => [long, short]));
        return text
          .replace(/^import .*\n/gm, "")
          .replace(/^\/\/ Original file: .*\n/gm, "")
          .replace(/\w+/g, (word) => longNames.get(word) ?? word)
          .replace(/\n{3,}/g, "\n\n")
          .trim();
      });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const nameOf = ({ fullName }) => fullName.slice(1);

function servicesIn(namespace) {
  return namespace.nestedArray.flatMap((one) =>
    one instanceof protobuf.Service ? [one] : one.nestedArray ? servicesIn(one) : [],
  );
}

/** Each method with the messages that it needs and no other: a registrar loads three of them. */
function methodsOf(service) {
  return Object.fromEntries(
    service.methodsArray.map((method) => {
      const messages = messagesOf([method.resolvedRequestType, method.resolvedResponseType]);
      const json = { methods: { [method.name]: method.toJSON() } };
      const nested = Object.fromEntries(messages.map((message) => [message.name, message.toJSON()]));
      return [method.name, inNamespaces(service.parent, { ...nested, [service.name]: json })];
    }),
  );
}

/** Messages on the top level of their file, and those that their fields are of. */
function messagesOf(types, found = []) {
  for (const type of types) {
    if (found.includes(type)) continue;
    if (!(type.parent instanceof protobuf.Type)) found.push(type);
    const inner = [...type.fieldsArray.map((field) => field.resolvedType), ...type.nestedArray];
    messagesOf(
      inner.filter((one) => one instanceof protobuf.Type),
      found,
    );
  }
  return found;
}

function inNamespaces(namespace, nested) {
  return namespace.parent ? inNamespaces(namespace.parent, { [namespace.name]: { nested } }) : { nested };
}
