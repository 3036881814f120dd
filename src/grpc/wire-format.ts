import type { MethodDefinition } from "@grpc/grpc-js";

/** Protobuf's number of a field, and what it holds: one text or several, true or false, or texts by texts. */
export type Field = readonly [number: number, kind: "text" | "texts" | "bool" | "textMap"];
export type Fields = Readonly<Record<string, Field>>;
type Values = Record<string, string | string[] | boolean | Record<string, string>>;

/** Protobuf's wire types (encoding.md): what follows a field's tag. */
const VARINT = 0;
const LENGTH = 2;
const [GROUP_START, GROUP_END] = [3, 4];
/** The length in bytes of a field's value, by wire type; undefined if it comes with the field, or the type is unknown. */
const FIXED_LENGTHS = [0, 8, undefined, 0, 0, 4];
const MAX_VARINT_BYTES = 10;
const MAX_FIELD_NUMBER = 2 ** 29 - 1;

/** The most fields of a message that are decoded; the largest useful one has a few dozen. */
const MAX_FIELDS = 1_000;

/** An entry of a map is a message of its own. */
const ENTRY: Fields = { key: [1, "text"], value: [2, "text"] };

/** A unary method, and how its messages are read and written without a library. */
export function unaryMethod<Request, Response>(
  path: string,
  request: Fields,
  response: Fields,
): MethodDefinition<Request, Response> {
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message) => writeMessage(request, message as Values),
    requestDeserialize: (bytes) => readMessage(request, bytes) as Request,
    responseSerialize: (message) => writeMessage(response, message as Values),
    responseDeserialize: (bytes) => readMessage(response, bytes) as Response,
  };
}

/**
 * Decodes the first `MAX_FIELDS` fields of a message. A field that is missing has its empty value; a repeated single field
 * has the last one; an unknown field, or one of another wire type, is skipped. Throws for what is not protobuf.
 */
function readMessage(fields: Fields, bytes: Buffer): Values {
  const empty = { text: () => "", texts: () => [], bool: () => false, textMap: () => ({}) };
  const known = Object.entries(fields);
  const message: Values = Object.fromEntries(known.map(([name, [, kind]]) => [name, empty[kind]()]));
  /** The numbers of the groups that have begun and not ended. */
  const groups: number[] = [];
  let read = 0;
  for (const { number, wireType, start, end } of fieldsOf(bytes)) {
    const isField = wireType !== undefined && number > 0 && number <= MAX_FIELD_NUMBER;
    if (!isField || end > bytes.length) throw new Error("not protobuf");
    if (read++ === MAX_FIELDS) return message;
    if (wireType === GROUP_START) groups.push(number);
    if (wireType === GROUP_END && groups.pop() !== number)
      throw new Error("not protobuf: the end of no group, or of another");
    if (groups.length > 0) continue;
    const [name, [, kind]] = known.find(([, field]) => field[0] === number) ?? ["", [0, undefined]];
    if (kind === undefined || wireType !== (kind === "bool" ? VARINT : LENGTH)) continue;
    const value = bytes.subarray(start, end);
    if (kind === "bool") message[name] = value.some((byte) => byte % 128 > 0);
    else if (kind === "text") message[name] = value.toString();
    else if (kind === "texts") (message[name] as string[]).push(value.toString());
    else define(message[name] as object, readMessage(ENTRY, value));
  }
  if (groups.length > 0) throw new Error("not protobuf: a group without its end");
  return message;
}

/** A key may be `__proto__`. */
function define(map: object, { key, value }: Values): void {
  Object.defineProperty(map, key as string, { value, writable: true, enumerable: true, configurable: true });
}

/** Encodes the fields that are there and not empty. */
function writeMessage(fields: Fields, message: Values): Buffer {
  const chunks: Buffer[] = [];
  const write = (number: number, bytes: Buffer) =>
    chunks.push(varintOf(number * 8 + LENGTH), varintOf(bytes.length), bytes);
  for (const [name, [number, kind]] of Object.entries(fields)) {
    const value = message[name];
    if (!value) continue;
    if (kind === "bool") chunks.push(varintOf(number * 8 + VARINT), varintOf(1));
    else if (kind === "text") write(number, Buffer.from(value as string));
    else if (kind === "texts") for (const text of value as string[]) write(number, Buffer.from(text));
    else if (kind === "textMap")
      for (const [key, text] of Object.entries(value))
        write(number, writeMessage(ENTRY, { key, value: text }));
  }
  return Buffer.concat(chunks);
}

function varintOf(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(128 + (rest % 128));
  return Buffer.from([...bytes, rest]);
}

/**
 * The beginning of a protobuf message, up to `MAX_FIELDS` fields: once decoded, a map's entry of 10 bytes takes 400. Returns
 * a message that is not protobuf as it is, because its decoder says what is wrong with it.
 */
export function firstFields(message: Buffer): Buffer {
  let fields = 0;
  for (const { at } of fieldsOf(message)) if (fields++ === MAX_FIELDS) return message.subarray(0, at);
  return message;
}

/**
 * Where each field of a protobuf message and its value begin and end. A group's two tags count as fields. The last one may have
 * an unknown wire type, undefined, or an end beyond that of the message: then the message is not protobuf.
 */
export function* fieldsOf(message: Buffer) {
  let end = 0;
  const varint = () => {
    let value = 0;
    for (let bytes = 0; bytes < MAX_VARINT_BYTES && end < message.length; bytes += 1) {
      const byte = message[end++] as number;
      value += (byte % 128) * 128 ** bytes;
      if (byte < 128) return value;
    }
    end = Number.POSITIVE_INFINITY;
    return value;
  };
  while (end < message.length) {
    const at = end;
    const tag = varint();
    const wireType = tag % 8 <= 5 ? tag % 8 : undefined;
    const number = Math.floor(tag / 8);
    const length = wireType === LENGTH ? varint() : (FIXED_LENGTHS[tag % 8] ?? 0);
    const start = end;
    if (wireType === VARINT) varint();
    end += length;
    yield { at, number, wireType, start, end };
    if (wireType === undefined) return;
  }
}
