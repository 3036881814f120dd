import { fromJSON } from "@grpc/proto-loader";
import { parse, util } from "protobufjs";
import { attempt } from "../../src/base/errors";
import { createAnswerTypes } from "../../src/grpc/descriptors";
import { checkMessage } from "../../src/grpc/message-check";

// The law: what a plain server of grpc-js answers, ours answers the same, unless the client would get something else than the
// value says; then it names the value and what the field takes. Every type of a field meets every value.

const SIGNED = ["int32", "sint32", "sfixed32", "int64", "sint64", "sfixed64"];
const WHOLE = [...SIGNED, "uint32", "fixed32", "uint64", "fixed64"];
const TYPES = [...WHOLE, "double", "float", "bool", "string", "bytes", "Kind", "Inner"];
const KEYS = [...WHOLE, "bool", "string"];
const FIELDS = [
  ...TYPES.map((type) => `${type} one_${type}`),
  ...TYPES.map((type) => `repeated ${type} list_${type}`),
  ...TYPES.map((type) => `map<string, ${type}> map_${type}`),
  ...KEYS.map((type) => `map<${type}, string> key_${type}`),
];
const PROTO = `syntax = "proto3"; package x;
  enum Kind { NONE = 0; BLOCK = 1; } message Inner { string a = 1; }
  message Message { ${FIELDS.map((field, at) => `${field} = ${at + 1};`).join(" ")} }
  service Y { rpc Ask(Inner) returns (Message); }`;
const options = { keepCase: true, longs: String, enums: String, bytes: String };
const service = fromJSON(parse(PROTO, { keepCase: true }).root.toJSON(), options)["x.Y"] as never;
const { Ask } = service as {
  readonly Ask: { responseSerialize(value: object): Buffer; responseDeserialize(bytes: Buffer): object };
};
const types = createAnswerTypes();
types.add(service);
const messageType = types.of("/x.Y/Ask");

/** What the client of a plain server gets. */
const sendPlainly = (answer: object) =>
  attempt(() => Ask.responseDeserialize(Ask.responseSerialize(answer)) as Record<string, unknown>);
/** Why ours refuses it; undefined if it does not. */
function refusalOf(answer: object): string | undefined {
  try {
    if (messageType) checkMessage(answer, messageType);
    return undefined;
  } catch (error) {
    return (error as TypeError).message;
  }
}

const { Long } = util as unknown as {
  readonly Long: { fromNumber(value: number, unsigned?: boolean): object; isLong(given: unknown): boolean };
};
class Info {
  readonly a = "x";
}
const half = "\ud83d";
const TEXTS: readonly string[] = [
  ...[
    "",
    " ",
    "5",
    "-7",
    "+5",
    " 5",
    "5 ",
    " +5",
    " -5",
    "-+5",
    "- 5",
    "5\n",
    "05",
    "0x5",
    "5.",
    "1.5",
    "1e3",
  ],
  ...["1234567890 ", "        5", "       +12345", "9007199254740993", "18446744073709551615"],
  ...[
    "-9223372036854775808",
    "9223372036854775808",
    "99999999999999999999",
    "2147483648",
    "4294967296",
    "1e300",
  ],
  ...[
    "NaN",
    " NaN ",
    "-Infinity",
    "Infinity",
    "true",
    "false",
    "TRUE",
    "BLOCK",
    "block",
    "é€",
    half,
    `a${half}`,
  ],
  ...[
    "YQ==",
    "YQ",
    "YQ=",
    "Y",
    "YWJj",
    "YWJj=",
    "YWI",
    "YWI=",
    "YWI==",
    "YWJjYQ=",
    "=",
    "==",
    "Y===",
    "a b",
    "-_-_",
    "+/+/",
    "0",
    "1",
  ],
];
const VALUES: readonly unknown[] = [
  ...TEXTS,
  ...[0, -0, 1, -1, 5, 1.5, 300, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64, -(2 ** 63)],
  ...[1e300, 0.1, Number.NaN, Number.POSITIVE_INFINITY, true, false, Symbol("s"), () => {}],
  ...[0n, 1n, 5n, -5n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 63n)],
  ...[
    [],
    [undefined],
    [null],
    ["a"],
    [1],
    [300],
    Array(1),
    [[1]],
    {},
    { a: "x" },
    { a: 5 },
    { length: 1, 0: 5 },
  ],
  ...[
    new Info(),
    new Map([["a", "b"]]),
    new Set(["a"]),
    new Date(0),
    new URL("http://a/"),
    /a/,
    Promise.resolve(),
  ],
  ...[new Error("x"), Object("a"), Object(5), Buffer.from("ab"), Buffer.from([255]), Buffer.alloc(0)],
  ...[new Uint8Array([97]), new Uint16Array([97]), new Int8Array([-1]), new Float64Array([97])],
  ...[new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), Buffer.from("a").toJSON()],
  ...[Long.fromNumber(5), Long.fromNumber(-5), Long.fromNumber(5, true), Long.fromNumber(2 ** 63, true)],
  ...[{ low: 5, high: 0 }, { low: 1.5, high: 0 }, { low: "1" }],
];

const isText = (given: unknown): given is string => typeof given === "string";
const numberIn = (given: unknown) => (isText(given) && given.trim() !== "" ? Number(given) : given);
const tagOf = (given: unknown) => Object.prototype.toString.call(given);
const bigIn = (given: unknown): bigint | undefined => {
  if (Long.isLong(given)) return BigInt(String(given));
  const { low, high } = Object(given);
  if (Number.isInteger(low) && Number.isInteger(high)) return (BigInt(high) << 32n) + BigInt(low >>> 0);
  const isWhole =
    typeof given === "bigint" || Number.isInteger(given) || (isText(given) && given.trim() !== "");
  return isWhole ? attempt(() => BigInt(given as string)) : undefined;
};

/** What a value says to a reader of JavaScript, in the words of the client; undefined: nothing of that type. */
function saidAs(type: string, given: unknown): unknown {
  if (type.endsWith("64")) return bigIn(given)?.toString();
  const value = numberIn(given);
  if (type.includes("32")) return Number.isInteger(value) ? Number(value) + 0 : undefined;
  if (type === "double" || type === "float") {
    const number = typeof given === "bigint" ? Number(given) : value;
    const isNumber = typeof number === "number" && !(Number.isNaN(number) && String(given).trim() !== "NaN");
    if (!isNumber) return undefined;
    const sent = type === "float" ? Math.fround(number) : number;
    return Number.isFinite(number) === Number.isFinite(sent) ? sent : undefined;
  }
  if (type === "bool")
    return new Map<unknown, boolean>([
      [true, true],
      [1, true],
      [false, false],
      [0, false],
    ]).get(given);
  if (type === "Kind")
    return (
      new Map<unknown, unknown>([
        ["BLOCK", "BLOCK"],
        [0, "NONE"],
        [1, "BLOCK"],
      ]).get(given) ?? (Number.isInteger(given) ? given : undefined)
    );
  if (type === "Inner") return tagOf(given) === "[object Object]" ? given : undefined;
  if (type === "bytes") return inBase64(given);
  const hasText =
    ["string", "bigint", "boolean"].includes(typeof given) ||
    Number.isFinite(given) ||
    Buffer.isBuffer(given);
  return hasText ? String(given) : undefined;
}

function inBase64(given: unknown): string | undefined {
  if (isText(given))
    return /^[\w+/-]*={0,2}$/.test(given) ? Buffer.from(given, "base64").toString("base64") : undefined;
  const isList = Array.isArray(given) || (ArrayBuffer.isView(given) && "length" in given);
  const bytes = isList ? Array.from(given as ArrayLike<number>) : [-1];
  return bytes.every((byte) => byte >= 0 && byte < 256 && Number.isInteger(byte))
    ? Buffer.from(bytes).toString("base64")
    : undefined;
}

const isSame = (received: unknown, said: unknown): boolean =>
  tagOf(said) === "[object Object]"
    ? (received as Info).a === Object(said).a?.toString()
    : Object.is(received, said) || (typeof said === "number" && received === said);
/** A byte that is no UTF-8, and half of a pair, become this. */
const isReplaced = (said: unknown, given: unknown) =>
  isText(said) && (/\p{Surrogate}/u.test(said) || (Buffer.isBuffer(given) && said.includes("\ufffd")));

const SHAPES: readonly (readonly [
  shape: string,
  put: (value: unknown) => unknown,
  take: (field: never) => unknown,
])[] = [
  ["one", (value) => value, (field: unknown) => field],
  ["list", (value) => [value], ([first]: unknown[]) => first],
  ["map", (value) => ({ a: value }), ({ a }: { a: unknown }) => a],
];

test.each(TYPES.flatMap((type) => SHAPES.map((shape) => [type, ...shape] as const)))(
  "what protobufjs sends of a value as %s is sent, or refused because it is not what the value says: %s",
  (type, shape, put, take) => {
    const name = `${shape}_${type}`;
    for (const given of VALUES) {
      const answer = { [name]: put(given) };
      const received = sendPlainly(answer)?.[name];
      const sent = received === undefined ? undefined : take(received as never);
      const said = saidAs(type, given);
      const isSaid =
        sent !== undefined &&
        said !== undefined &&
        isSame(sent, said) &&
        !(type === "string" && isReplaced(said, given));
      const reason = expect.stringMatching(
        /^the answer's \S+ (?:is .*; it takes |has half of a surrogate pair)/,
      );
      expect([given, refusalOf(answer)]).toEqual([given, isSaid ? undefined : reason]);
    }
  },
);

test.each(KEYS)("a map's key of type %s is sent, or refused because it is not what the text says", (type) => {
  const name = `key_${type}`;
  for (const key of TEXTS) {
    const received = Object.keys(Object(sendPlainly({ [name]: { [key]: "v" } })?.[name]))[0];
    const said = type === "bool" ? { true: "true", false: "false" }[key] : saidAs(type, key);
    const isSaid =
      received !== undefined &&
      said !== undefined &&
      keyOf(type, received) === String(said) &&
      !isReplaced(said, key);
    const reason = expect.stringContaining("is under a key that ");
    expect([key, refusalOf({ [name]: { [key]: "v" } })]).toEqual([key, isSaid ? undefined : reason]);
  }
});

/** proto-loader gives a key of 64 bits as its bytes. */
const keyOf = (type: string, received: string) => {
  if (!type.endsWith("64")) return received;
  const bytes = Buffer.from(received, "latin1");
  return String(SIGNED.includes(type) ? bytes.readBigInt64LE() : bytes.readBigUInt64LE());
};
