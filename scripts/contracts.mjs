// npm run contracts: the wire contracts, proto/ -> src/grpc/contracts.ts, the types of their messages and methods and their descriptors, and
// src/grpc/methods.ts, those of a registration. test/grpc/contracts.test.ts fails where those are not current.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import protobuf from "protobufjs";

/** What a registration calls and serves: made by the build, because loading proto-loader and its descriptors takes 15 ms. */
const OF_REGISTRATION = {
  registrationMethods: ["pluginregistration.Registration", ["GetInfo", "NotifyRegistrationStatus"]],
  identityMethods: ["csi.v1.Identity", ["GetPluginInfo"]],
};

/** Writes contracts.ts and methods.ts into a folder. */
export function writeContracts(folder) {
  const root = new protobuf.Root();
  // Comments after two slashes document the fields.
  root.loadSync(
    readdirSync("proto").map((name) => join("proto", name)),
    { alternateCommentMode: true },
  );
  root.resolveAll();
  const services = servicesIn(root);
  const messages = services.flatMap(messagesOfMethods).filter(({ fieldsArray }) => fieldsArray.length > 0);
  const parts = [
    "// Written by `npm run contracts` from proto/: do not edit.",
    'import type { MethodDefinition } from "@grpc/proto-loader";',
    ...messages.map(interfaceOf),
    ...services.map(definitionOf),
    `/** By service and method, with the messages that each needs. */\nexport const DESCRIPTORS = ${linesOf(services)};`,
  ];
  writeFileSync(join(folder, "contracts.ts"), `${parts.join("\n\n")}\n`);
  writeFileSync(join(folder, "methods.ts"), methodsOfRegistration(root));
}

function methodsOfRegistration(root) {
  const methods = Object.entries(OF_REGISTRATION).map(([name, [service, methods]]) => {
    const lines = methods.flatMap((method) => {
      const { resolvedRequestType: request, resolvedResponseType: response } =
        root.lookup(service).methods[method];
      return [
        `  ${method}: unaryMethod<${typeOf(request)}, ${typeOf(response)}>(`,
        `    "/${service}/${method}",`,
        `    ${fieldsIn(request)},`,
        `    ${fieldsIn(response)},`,
        "  ),",
      ];
    });
    return `export const ${name} = {\n${lines.join("\n")}\n};`;
  });
  const types = Array.from(
    methods.join().matchAll(/unaryMethod<(\w+), (\w+)>/g),
    ([, ...both]) => both,
  ).flat();
  const imported = [...new Set(types)].filter((type) => type !== "object").sort();
  const head = `// Written by \`npm run contracts\` from proto/: do not edit.
import type { ${imported.join(", ")} } from "./contracts";
import { unaryMethod } from "./wire-format";`;
  return `${[head, ...methods].join("\n\n")}\n`;
}

/** What src/grpc/wire-format.ts knows: a field's rule, if it has one, and its type. */
const KINDS = { "map string string": "textMap", "repeated string": "texts", string: "text", bool: "bool" };

/** The fields of a message as src/grpc/wire-format.ts reads them. Throws for one that it does not know. */
export function fieldsIn({ fullName, fieldsArray }) {
  const fields = fieldsArray.map(({ name, id, type, repeated, map, keyType, partOf }) => {
    const rule = [
      ...(partOf ? ["optional"] : []),
      ...(map ? ["map", keyType] : repeated ? ["repeated"] : []),
    ];
    const kind = [...rule, type].join(" ");
    if (!Object.hasOwn(KINDS, kind))
      throw new Error(`${fullName}: src/grpc/wire-format.ts reads no field like ${name}, which is ${kind}`);
    return `${name}: [${id}, "${KINDS[kind]}"]`;
  });
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

const typeOf = (message) => (message.fieldsArray.length > 0 ? message.name : "object");

/** One line a method: a reader looks at proto/, and types at what is above. */
function linesOf(services) {
  const lines = services.flatMap((service) => [
    `  ${JSON.stringify(nameOf(service))}: {`,
    ...Object.entries(methodsOf(service)).map(([name, json]) => `    ${name}: ${JSON.stringify(json)},`),
    "  },",
  ]);
  return ["{", ...lines, "}"].join("\n");
}

/** What the methods of a service take and return. */
function messagesOfMethods({ methodsArray }) {
  return methodsArray.flatMap((method) => [method.resolvedRequestType, method.resolvedResponseType]);
}

/** A message as src/grpc/protos.ts loads it: all fields, 64-bit numbers as numbers, enums by their names. */
function interfaceOf(type) {
  const fields = type.fieldsArray.flatMap((field) => [
    ...(field.comment ? [`  /** ${field.comment} */`] : []),
    `  ${memberOf(field)};`,
  ]);
  const head = type.comment ? [`/** ${type.comment} */`] : [];
  return [...head, `export interface ${type.name} {`, ...fields, "}"].join("\n");
}

function memberOf(field) {
  const { name, partOf, resolvedType: type } = field;
  const isMessage = type instanceof protobuf.Type;
  let text = field.type === "bool" ? "boolean" : field.type === "string" ? "string" : "number";
  if (type instanceof protobuf.Enum)
    text = Object.keys(type.values)
      .map((one) => `"${one}"`)
      .join(" | ");
  if (isMessage) text = `{ ${type.fieldsArray.map(memberOf).join("; ")} }`;
  if (field.map) text = `{ [key: string]: ${text} }`;
  else if (field.repeated) text = `${text}[]`;
  else if (isMessage) text = `${text} | null`;
  return `${name}${partOf ? "?" : ""}: ${text}`;
}

function definitionOf(service) {
  const methods = service.methodsArray.map(
    ({ name, resolvedRequestType: request, resolvedResponseType: response }) =>
      `  ${name}: MethodDefinition<${typeOf(request)}, ${typeOf(response)}>;`,
  );
  return [`export interface ${service.name}Definition {`, ...methods, "}"].join("\n");
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

/** Messages and enums on the top level of their file, and those that their fields are of. */
function messagesOf(types, found = []) {
  for (const type of types) {
    if (found.includes(type)) continue;
    if (!(type.parent instanceof protobuf.Type)) found.push(type);
    if (type instanceof protobuf.Enum) continue;
    const inner = [...type.fieldsArray.map((field) => field.resolvedType), ...type.nestedArray];
    messagesOf(
      inner.filter((one) => one instanceof protobuf.Type || one instanceof protobuf.Enum),
      found,
    );
  }
  return found;
}

function inNamespaces(namespace, nested) {
  return namespace.parent ? inNamespaces(namespace.parent, { [namespace.name]: { nested } }) : { nested };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeContracts("src/grpc");
