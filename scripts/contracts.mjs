// The two wire contracts: proto/ -> src/grpc/contracts/, the types of their messages and methods (proto-loader's own
// generator writes them) and their descriptors. test/grpc/contracts.test.ts fails where those are not current.
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import protobuf from "protobufjs";

/** Writes all of it into a folder. */
export function writeContracts(folder) {
  rmSync(folder, { recursive: true, force: true });
  const files = readdirSync("proto");
  execFileSync("node_modules/.bin/proto-loader-gen-types", [
    `--outDir=${folder}`,
    "--includeDirs=proto",
    // As src/grpc/protos.ts loads them.
    ...["--defaults", "--longs=Number", "--enums=String"],
    // `PluginInfo` is what comes out of a call, complete; `PluginInfoInput` what may be given to one.
    ...["--inputTemplate=%sInput", "--outputTemplate=%s", "--includeComments"],
    ...files,
  ]);
  const root = protobuf.loadSync(files.map((file) => join("proto", file)));
  root.resolveAll();
  const services = Object.fromEntries(
    servicesIn(root).map((service) => [nameOf(service), methodsOf(service)]),
  );
  writeFileSync(join(folder, "descriptors.json"), `${JSON.stringify(services, null, 2)}\n`);
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
