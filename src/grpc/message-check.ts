import { isUtf8 } from "node:buffer";
import { types } from "node:util";
import { nearWord } from "../base/near-word";
import { isObject, show } from "../options/option-kinds";
import { type FieldType, MESSAGE, type MessageType } from "./descriptors";

/** What a field of one of protobuf's types takes: what the client gets as the value says, such as a text of digits for a number. */
interface Taken {
  /** Ends the sentence "it takes …". */
  readonly takes: string;
  readonly accepts: (given: unknown) => boolean;
}

/** The number in a text, as protobufjs reads it, too; else what was given. */
const numberIn = (given: unknown): unknown =>
  typeof given === "string" && given.trim() !== "" ? Number(given) : given;

const whole = (least: number, most: number): Taken => ({
  takes: `a whole number, ${least} to ${most}`,
  accepts: (given) => {
    const value = numberIn(given);
    return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  },
});

/** protobufjs reads a text of digits in pieces of 8, and takes a space behind the first piece for a digit. */
const DIGITS = /^(?:\s*\+?|-)\d+$|^(?=.{1,8}$)(?:\s*\+?|-)\d+\s+$/s;

/** Also a BigInt, a string of digits, or a Long. */
function wholeOf64(least: bigint, most: bigint): Taken {
  const isUnsigned = least === 0n;
  const isHalf = (half: unknown) => Number(half) >> 0 === half;
  return {
    takes: `a whole number, ${least} to ${most}, as a number, a BigInt, a string of digits or a Long`,
    accepts: (given) => {
      const isText = typeof given === "string" && DIGITS.test(given);
      if (isText || typeof given === "bigint" || Number.isInteger(given))
        return BigInt(given as bigint) >= least && BigInt(given as bigint) <= most;
      const { low, high, unsigned } = Object(given);
      return isHalf(low) && isHalf(high) && (high >= 0 || unsigned === isUnsigned);
    },
  };
}

const float = (round: (given: number) => number): Taken => ({
  takes: "a number",
  accepts: (given) => {
    const value = typeof given === "bigint" ? Number(given) : numberIn(given);
    const isWord = Number.isNaN(value) && String(given).trim() !== "NaN";
    return typeof value === "number" && !isWord && Number.isFinite(value) === Number.isFinite(round(value));
  },
});

const string: Taken = {
  takes: "a string",
  accepts: (given) =>
    typeof given === "string"
      ? !/\p{Surrogate}/u.test(given)
      : ["bigint", "boolean"].includes(typeof given) ||
        Number.isFinite(given) ||
        (Buffer.isBuffer(given) && isUtf8(given)),
};

/** Also without padding. protobufjs takes no other alphabet, and reads too much padding as a byte. */
function isBase64(text: string): boolean {
  const [, body = "a", padding = ""] = /^([a-z0-9+/]*)(={0,2})$/i.exec(text) ?? [];
  const rest = body.length % 4;
  return rest !== 1 && padding.length <= (4 - rest) % 4;
}

const isByte = (given: unknown) => Number.isInteger(given) && Number(given) >= 0 && Number(given) < 256;
const bytes: Taken = {
  takes: "a Uint8Array, or a string in base64",
  accepts: (given) => {
    if (typeof given === "string") return isBase64(given);
    const isList = Array.isArray(given) || types.isTypedArray(given);
    return types.isUint8Array(given) || (isList && Array.from<unknown>(given).every(isByte));
  },
};

const int32 = whole(-(2 ** 31), 2 ** 31 - 1);
const uint32 = whole(0, 2 ** 32 - 1);
const int64 = wholeOf64(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = wholeOf64(0n, 2n ** 64n - 1n);
const bool: Taken = { takes: "true or false", accepts: (given) => [true, false, 1, 0].includes(given as 1) };
const object: Taken = { takes: "a plain object", accepts: isObject };
const list: Taken = { takes: "a list", accepts: Array.isArray };
const ENUM = 14;
/** Of a message's fields, in an error's text. */
const MOST_NAMED = 4;

/** By `FieldDescriptorProto.Type` of descriptor.proto, without enums. */
const TAKEN: Readonly<Record<number, Taken>> = {
  ...{ 1: float((given) => given), 2: float(Math.fround), 8: bool, 9: string, [MESSAGE]: object, 12: bytes },
  ...{ 3: int64, 16: int64, 18: int64, 4: uint64, 6: uint64 },
  ...{ 5: int32, 15: int32, 17: int32, 7: uint32, 13: uint32 },
};

function enumOf(names: readonly string[]): Taken {
  return {
    takes: `one of ${names.join(", ")}, or its number`,
    accepts: (given) => (typeof given === "string" ? names.includes(given) : int32.accepts(given)),
  };
}

/** Whether a map's key, which is a text in JavaScript, is sent as it is: protobufjs sends `false` as true. */
const isKey = (key: string, keys: Taken): boolean => (keys === bool ? key === "true" : keys.accepts(key));

const whyNoKey = (keys: Taken) => (keys === bool ? "protobufjs sends as true" : `is not ${keys.takes}`);

/**
 * Throws a TypeError with the path of a value of which the client would get something else than it says: protobuf converts what has
 * another type, and drops what it cannot convert. Returns the paths of fields that the message does not have, each with the one that was
 * probably meant: protobuf drops them.
 */
export function checkMessage(message: object, type: MessageType): readonly string[] {
  const path: (string | number)[] = [];
  const unknown: string[] = [];

  const refuse = (what: string): never => {
    throw new TypeError(`the answer's ${shown(path)} ${what}`);
  };
  const require = ({ takes, accepts }: Taken, given: unknown, type?: MessageType | readonly string[]) => {
    if (accepts(given)) return;
    if (accepts === string.accepts && typeof given === "string") refuse(HALF);
    const names = type && "fields" in type ? [...type.fields.keys()] : [];
    const more = names.length > MOST_NAMED ? ", …" : "";
    const withNames = names.length > 0 ? ` with ${names.slice(0, MOST_NAMED).join(", ")}${more}` : "";
    refuse(`is ${show(given)}; it takes ${takes}${withNames}`);
  };

  const checkValue = (given: unknown, { type, of }: FieldType) => {
    const inner = type === MESSAGE || type === ENUM ? of() : undefined;
    if (type === ENUM) {
      if (Array.isArray(inner)) require(enumOf(inner), given);
      return;
    }
    require(TAKEN[type] ?? ANYTHING, given, inner);
    if (inner && "fields" in inner) checkFields(given as Values, inner);
  };
  const checkEach = (given: unknown, field: FieldType) => {
    const { keyType, isRepeated } = field;
    if (!isRepeated && keyType === undefined) return checkValue(given, field);
    require(isRepeated ? list : object, given);
    // A hole of a list is undefined here.
    const entries = isRepeated ? (given as unknown[]).entries() : Object.entries(given as Values);
    for (const [key, value] of entries) {
      path.push(key);
      const keys = keyType === undefined ? ANYTHING : (TAKEN[keyType] ?? ANYTHING);
      if (!isKey(String(key), keys)) refuse(`is under a key that ${keys === string ? HALF : whyNoKey(keys)}`);
      checkValue(value, field);
      path.pop();
    }
  };
  const checkFields = (message: Values, { name, fields, oneofs }: MessageType) => {
    // proto-loader encodes it by the type that it names.
    if (name === ".google.protobuf.Any" && "@type" in message) return;
    const taken: string[] = [];
    for (const [name, field] of fields) {
      const value = message[name];
      if (isAbsent(value)) continue;
      path.push(name);
      if (value === Object(Object.prototype)[name]) refuse(INHERITED);
      const other = field.oneof === undefined ? undefined : taken[field.oneof];
      if (other !== undefined) refuse(`is there beside ${other}; protobuf sends one of them`);
      if (field.oneof !== undefined) taken[field.oneof] = name;
      checkEach(value, field);
      path.pop();
    }
    for (const [name, value] of Object.entries(message)) {
      const of = oneofs.indexOf(name);
      const among = of < 0 ? [] : [...fields].flatMap(([field, { oneof }]) => (oneof === of ? [field] : []));
      // proto-loader names the field that is there.
      const isKnown = fields.has(name) || (among.includes(value as string) && taken[of] === value);
      const isMethod = of < 0 && typeof value === "function"; // Such as toJSON.
      if (isKnown || isMethod || isAbsent(value)) continue;
      const meant = nearWord(name, fields.keys());
      const guess = meant === undefined ? "" : `; did you mean ${meant}?`;
      const hint = of < 0 ? guess : `, a oneof: set ${among.join(" or ")}`;
      unknown.push(`${shown([...path, name])}${hint}`);
    }
  };
  checkFields(message as Values, type);
  return unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** protobufjs reads `constructor` and the like from any object, and sends the source of the function. */
const INHERITED = "is not set, and protobuf would send that of Object.prototype; set it";

const HALF = "has half of a surrogate pair, which UTF-8 cannot encode";

const ANYTHING: Taken = { takes: "anything", accepts: () => true };

/** protobuf, and grpc-js, take null for undefined. */
export const isAbsent = (value: unknown) => value === undefined || value === null;

/** As JavaScript would reach it: `segments["topology.example.com/zone"]`, `capabilities[0].rpc`. */
const shown = (path: readonly (string | number)[]) =>
  path
    .map((step) =>
      typeof step === "string" && /^\w+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
    )
    .join("")
    .slice(1);
