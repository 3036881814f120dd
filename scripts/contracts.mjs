// npm run contracts: the wire contracts, proto/ -> src/grpc/protos.ts, the types of their messages, and their methods as
// src/grpc/wire-format.ts reads and writes them. test/grpc/contracts.test.ts fails if it is not current.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import protobuf from "protobufjs";

/** The services, by what src/ calls them. */
const SERVICES = {
  registration: "pluginregistration.Registration",
  identity: "csi.v1.Identity",
  node: "csi.v1.Node",
};

/** The messages that have another name in src/, because callers of the library see it. */
const NAMES = { GetPluginInfoResponse: "PluginIdentity", NodeGetInfoResponse: "NodeInfo" };

/** The fields that src/grpc/wire-format.ts knows: their types, in protobuf and in TypeScript. */
const KINDS = {
  string: ["text", "string"],
  "repeated string": ["texts", "string[]"],
  "map string": ["textMap", "{ [key: string]: string }"],
  bool: ["bool", "boolean"],
  int64: ["int64", "number"],
};

/** Writes protos.ts into a folder. */
export function writeContracts(folder) {
  const root = new protobuf.Root();
  // Comments after two slashes document the fields.
  root.loadSync(
    readdirSync("proto").map((name) => join("proto", name)),
    { alternateCommentMode: true },
  );
  root.resolveAll();
  const services = Object.entries(SERVICES).map(([name, path]) => ({
    name,
    path,
    methods: root.lookupService(path).methodsArray,
  }));
  const messages = services.flatMap(({ methods }) =>
    methods.flatMap((method) => [method.resolvedRequestType, method.resolvedResponseType]),
  );
  const parts = [
    "// Written by `npm run contracts` from proto/: do not edit.",
    'import { unaryMethod } from "./wire-format";',
    ...messages.filter(({ fieldsArray }) => fieldsArray.length > 0).map(interfaceOf),
    `/** The wire contracts as typed methods, by service. */\nexport const protos = {\n${services.map(serviceOf).join("\n")}\n};`,
  ];
  writeFileSync(join(folder, "protos.ts"), `${parts.join("\n\n")}\n`);
}

function serviceOf({ name, path, methods }) {
  const lines = methods.flatMap(({ name, resolvedRequestType: request, resolvedResponseType: response }) => [
    `    ${name}: unaryMethod<${nameOf(request)}, ${nameOf(response)}>(`,
    `      "/${path}/${name}",`,
    `      ${fieldsIn(request)},`,
    `      ${fieldsIn(response)},`,
    "    ),",
  ]);
  return [`  ${name}: {`, ...lines, "  },"].join("\n");
}

const nameOf = ({ name, fieldsArray }) => (fieldsArray.length > 0 ? (NAMES[name] ?? name) : "object");

/** Of a field that is a message, that message; else what `KINDS` has of its type. */
function kindOf({ name, type, repeated, map, resolvedType }) {
  if (resolvedType && !repeated && !map) return resolvedType;
  const kind = KINDS[`${map ? "map " : repeated ? "repeated " : ""}${type}`];
  if (kind === undefined)
    throw new Error(`src/grpc/wire-format.ts does not know the type of the field ${name}`);
  return kind;
}

/** The fields of a message as src/grpc/wire-format.ts reads them. */
function fieldsIn({ fieldsArray }) {
  const fields = fieldsArray.map((field) => {
    const kind = kindOf(field);
    return `${field.name}: [${field.id}, ${Array.isArray(kind) ? `"${kind[0]}"` : fieldsIn(kind)}]`;
  });
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function interfaceOf(message) {
  const fields = message.fieldsArray.flatMap((field) => [
    ...(field.comment ? [`  /** ${field.comment} */`] : []),
    `  ${memberOf(field)};`,
  ]);
  const head = message.comment ? [`/** ${message.comment} */`] : [];
  return [...head, `export interface ${nameOf(message)} {`, ...fields, "}"].join("\n");
}

function memberOf(field) {
  const kind = kindOf(field);
  const type = Array.isArray(kind) ? kind[1] : `{ ${kind.fieldsArray.map(memberOf).join("; ")} } | null`;
  return `${field.name}: ${type}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeContracts("src/grpc");
