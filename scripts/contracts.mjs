// The two wire contracts: proto/ -> src/grpc/contracts.ts, the types of their messages and methods and their descriptors.
// test/grpc/contracts.test.ts fails where those are not current.
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import protobuf from "protobufjs";

/** Writes the types and descriptors of all services into a file. */
export function writeContracts(file) {
  const root = new protobuf.Root();
  // Comments after two slashes are the documentation of messages and fields.
  root.loadSync(
    readdirSync("proto").map((name) => join("proto", name)),
    { alternateCommentMode: true },
  );
  root.resolveAll();
  const services = servicesIn(root);
  const namespaces = new Set(services.map(({ parent }) => parent));
  const parts = [
    "// Written by `npm run build` from proto/: do not edit.",
    'import type { MethodDefinition } from "@grpc/proto-loader";',
    ...[...namespaces].flatMap(typesIn).map(interfaceOf),
    ...services.map(definitionOf),
    `/** By service and method, with the messages that each needs. */\nexport const DESCRIPTORS = ${linesOf(services)};`,
  ];
  writeFileSync(file, `${parts.join("\n\n")}\n`);
}

/** One line a method: a reader looks at proto/, and types at what is above. */
function linesOf(services) {
  const lines = services.flatMap((service) => [
    `  ${JSON.stringify(nameOf(service))}: {`,
    ...Object.entries(methodsOf(service)).map(([name, json]) => `    ${name}: ${JSON.stringify(json)},`),
    "  },",
  ]);
  return ["{", ...lines, "}"].join("\n");
}

/** The messages of a namespace that have fields, also those inside of another message. */
function typesIn(namespace) {
  const types = namespace.nestedArray.filter((one) => one instanceof protobuf.Type);
  return types.flatMap((type) => [type, ...typesIn(type)]).filter((type) => type.fieldsArray.length > 0);
}

/** A message as src/grpc/protos.ts loads it: all fields, 64-bit numbers as numbers, enums by their names. */
function interfaceOf(type) {
  const fields = type.fieldsArray.flatMap((field) => [
    ...docOf(field, "  "),
    `  ${field.name}${field.partOf ? "?" : ""}: ${typeOf(field)};`,
  ]);
  return [...docOf(type), `export interface ${typeNameOf(type)} {`, ...fields, "}"].join("\n");
}

function typeOf(field) {
  const { resolvedType: type } = field;
  let text = field.type === "bool" ? "boolean" : field.type === "string" ? "string" : "number";
  if (type instanceof protobuf.Enum)
    text = Object.keys(type.values)
      .map((name) => `"${name}"`)
      .join(" | ");
  if (type instanceof protobuf.Type) text = typeNameOf(type);
  if (field.map) return `{ [key: string]: ${text} }`;
  if (field.repeated) return `${text}[]`;
  return type instanceof protobuf.Type ? `${text} | null` : text;
}

/** A message inside of another one is named after both. */
function typeNameOf(type) {
  return `${type.parent instanceof protobuf.Type ? typeNameOf(type.parent) : ""}${type.name}`;
}

function docOf({ comment }, indent = "") {
  return comment ? [`${indent}/** ${comment} */`] : [];
}

function definitionOf(service) {
  const typeOfMessage = (type) => (type.fieldsArray.length > 0 ? typeNameOf(type) : "object");
  const methods = service.methodsArray.map(
    ({ name, resolvedRequestType: request, resolvedResponseType: response }) =>
      `  ${name}: MethodDefinition<${typeOfMessage(request)}, ${typeOfMessage(response)}>;`,
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
