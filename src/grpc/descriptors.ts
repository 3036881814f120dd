import type { ServiceDefinition } from "@grpc/grpc-js";
import { attempt } from "../base/errors";
import { fieldsOf } from "./wire-format";

/** A message's fields, by the names that proto-loader gives them. */
export interface MessageType {
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldType>;
  /** The names of its oneofs, which proto-loader sets to the name of the field that is there. */
  readonly oneofs: readonly string[];
}

export interface FieldType {
  /** Protobuf's number of its type, of a map that of the values: `FieldDescriptorProto.Type` in descriptor.proto. */
  readonly type: number;
  /** Of a map. */
  readonly keyType: number | undefined;
  readonly isRepeated: boolean;
  /** Which oneof of its message it is in. */
  readonly oneof: number | undefined;
  /** The message that it has, or the names of its enum; undefined for any other type, and for one that was not found. */
  readonly of: () => MessageType | readonly string[] | undefined;
}

const REPEATED = 3;
/** The type of a field that has a message. */
export const MESSAGE = 11;

/**
 * Makes what finds the message that a method answers, by its path; undefined for a service that proto-loader did not load, or
 * that has another serializer.
 */
export function createAnswerTypes() {
  const methods = new Map<string, () => MessageType | undefined>();
  /** By the descriptors of all files, which the services of one `loadSync` share. */
  const loaded = new WeakMap<Buffer[], ReturnType<typeof readFiles>>();
  const typesIn = (files: Buffer[]) => {
    const types = loaded.get(files) ?? readFiles(files);
    loaded.set(files, types);
    return types;
  };
  return {
    add: (service: ServiceDefinition): void => {
      for (const { path, responseType, responseSerialize } of Object.values(service).map(Object)) {
        const { fileDescriptorProtos: files } = Object(responseType);
        // Protobuf encodes an empty message as no bytes; it would read fields that an object inherits.
        const isProtobuf = () => attempt(() => responseSerialize(Object.create(null)).length) === 0;
        if (Array.isArray(files))
          methods.set(
            path,
            once(() => (isProtobuf() ? typesIn(files).answerOf(path) : undefined)),
          );
      }
    },
    of: (path: string): MessageType | undefined => methods.get(path)?.(),
  };
}

/** What the files declare. The numbers are those of fields in descriptor.proto. */
function readFiles(files: readonly Buffer[]) {
  const types = new Map<string, () => MessageType | readonly string[]>();
  const answers = new Map<string, string>();

  const addTypes = (scope: string, messages: readonly Message[], enums: readonly Message[]) => {
    for (const one of enums)
      types.set(`${scope}.${one.text(1)}`, () => one.all(2).map((name) => name.text(1)));
    for (const one of messages) {
      const name = `${scope}.${one.text(1)}`;
      types.set(
        name,
        once(() => messageType(name, one, find)),
      );
      addTypes(
        name,
        one.all(3).filter((nested) => !isEntry(nested)),
        one.all(4),
      );
    }
  };
  /**
   * A name without a dot in front is relative to its scope, or to one around it. protobufjs (7.6) shortens a hidden type's name to
   * that of the one that hides it: which is meant is unknown.
   */
  const find = (name: string, scope: string): MessageType | readonly string[] | undefined => {
    if (name.startsWith(".")) return types.get(name)?.();
    const [found, ...others] = scopesOf(scope).flatMap((around) => types.get(`${around}.${name}`) ?? []);
    return others.length === 0 ? found?.() : undefined;
  };

  for (const file of files.map(readMessage)) {
    const name = file.text(2);
    addTypes(name === "" ? "" : `.${name}`, file.all(4), file.all(5));
    for (const service of file.all(6))
      for (const method of service.all(2))
        answers.set(`/${name === "" ? "" : `${name}.`}${service.text(1)}/${method.text(1)}`, method.text(3));
  }
  return {
    answerOf: (path: string): MessageType | undefined => {
      const type = find(answers.get(path) ?? "", "");
      return type && "fields" in type ? type : undefined;
    },
  };
}

type Find = (name: string, scope: string) => MessageType | readonly string[] | undefined;

function messageType(name: string, message: Message, find: Find): MessageType {
  const entries = new Map(
    message
      .all(3)
      .filter(isEntry)
      .map((entry) => [entry.text(1), entry.all(2)]),
  );
  const fieldOf = (field: Message): [string, FieldType] => {
    const isRepeated = field.number(4) === REPEATED;
    const isMap = isRepeated && field.number(5) === MESSAGE;
    // protobufjs names a map's entries so, and refers to their types from outside of the message.
    const [key, value] = (isMap && entries.get(upperFirst(field.text(1)))) || [];
    const [given, scope] = value ? [value, outer(name)] : [field, name];
    return [
      field.text(1),
      {
        type: given.number(5) ?? 0,
        keyType: key?.number(5),
        isRepeated: isRepeated && key === undefined,
        oneof: field.number(9),
        of: once(() => find(given.text(6), scope)),
      },
    ];
  };
  return {
    name,
    fields: new Map(message.all(2).map(fieldOf)),
    oneofs: message.all(8).map((one) => one.text(1)),
  };
}

const outer = (scope: string) => scope.slice(0, scope.lastIndexOf("."));
/** A scope, and those around it. */
const scopesOf = (scope: string): readonly string[] =>
  scope === "" ? [scope] : [scope, ...scopesOf(outer(scope))];
const upperFirst = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
/** Whether a nested message is a map's entry, by the option `map_entry`. */
const isEntry = (message: Message) => message.all(7).some((options) => options.number(7) === 1);

/** A protobuf message by the numbers of its fields: what is not there is empty, a number undefined. */
interface Message {
  all(number: number): readonly Message[];
  text(number: number): string;
  number(number: number): number | undefined;
}

function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, Buffer[]>();
  for (const { number, start, end } of fieldsOf(bytes))
    fields.set(number, [...(fields.get(number) ?? []), bytes.subarray(start, end)]);
  const last = (number: number) => fields.get(number)?.at(-1);
  return {
    all: (number) => (fields.get(number) ?? []).map(readMessage),
    text: (number) => last(number)?.toString() ?? "",
    number: (number) => last(number)?.reduceRight((value, byte) => value * 128 + (byte % 128), 0),
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
