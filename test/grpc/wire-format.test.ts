import * as fc from "fast-check";
import { identityMethods as identity, registrationMethods as registration } from "../../src/grpc/methods";
import { protos } from "../../src/grpc/protos";
import { firstFields } from "../../src/grpc/wire-format";
import { propertyTest } from "../support/fuzz";
import { bytesOf } from "./wire";

interface Codec {
  readonly write: (message: object) => Buffer;
  readonly read: (bytes: Buffer) => object;
}

const codecOf = (method: object, side: "request" | "response"): Codec => {
  const { [`${side}Serialize`]: write, [`${side}Deserialize`]: read } = method as Record<string, never>;
  return { write, read } as unknown as Codec;
};

/** Our codec of a method's messages, and proto-loader's from the same file. */
const bothOf = (service: "identity" | "registration", name: string, side: "request" | "response") => {
  const [ours, theirs] = [{ identity, registration }[service], protos[service]].map((methods) =>
    codecOf(methods[name as never], side),
  );
  return [ours, theirs] as [Codec, Codec];
};

const text = fc.string({ unit: "grapheme", maxLength: 200 });
const key = text.filter((one) => one !== "__proto__");

const info = fc.record({ type: text, name: text, endpoint: text, supportedVersions: fc.array(text) });
const status = fc.record({ pluginRegistered: fc.boolean(), error: text });
const manifest = fc.dictionary(key, text, { noNullPrototype: true });

/** Each message of a registration: what it may hold, and its codecs. */
const MESSAGES: readonly (readonly [string, fc.Arbitrary<object>, Codec, Codec])[] = [
  ["PluginInfo", info, ...bothOf("registration", "GetInfo", "response")],
  ["RegistrationStatus", status, ...bothOf("registration", "NotifyRegistrationStatus", "request")],
  [
    "GetPluginInfoResponse",
    fc.record({ name: text, vendorVersion: text, manifest }),
    ...bothOf("identity", "GetPluginInfo", "response"),
  ],
  ["InfoRequest", fc.constant({}), ...bothOf("registration", "GetInfo", "request")],
];

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((one) => Buffer.from(one));

function varint(value: number): Buffer {
  const rest = Math.floor(value / 128);
  return rest === 0
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([128 + (value % 128)]), varint(rest)]);
}

/** Fields that later versions of a contract may add, each kind of value and groups in groups. */
const unknownField: fc.Memo<Buffer> = fc.memo((depth) => {
  const inner = depth > 1 ? fc.array(unknownField(), { maxLength: 2 }) : fc.constant([]);
  return fc
    .tuple(fc.integer({ min: 5, max: 100_000 }), fc.nat(3), bytes(20), inner)
    .map(([number, kind, value, fields]) => {
      const tagged = (wireType: number, ...rest: Buffer[]) =>
        Buffer.concat([varint(number * 8 + wireType), ...rest]);
      if (kind === 0) return tagged(0, varint(value.length * 1_000));
      if (kind === 1) return tagged(2, varint(value.length), value);
      if (kind === 2)
        return Buffer.concat([tagged(1, Buffer.alloc(8, 255)), tagged(5, Buffer.alloc(4, 255))]);
      return Buffer.concat([tagged(3), ...fields, tagged(4)]);
    });
});

describe.each(MESSAGES)("%s", (_name, messages, ours, theirs) => {
  propertyTest(
    "is read by proto-loader as we write it, and by us as it writes it, whatever fields are added",
    { runs: 200, given: fc.tuple(messages, fc.array(unknownField(3), { maxLength: 3 })) },
    ([message, more]) => {
      expect(theirs.read(ours.write(message))).toEqual(message);
      const written = Buffer.concat([...more, theirs.write(message), ...more]);
      expect(ours.read(written)).toEqual(message);
      expect(theirs.read(written)).toEqual(message);
    },
  );

  const damaged = fc
    .tuple(messages, fc.nat(10_000), fc.nat(255), bytes(30))
    .map(([message, at, value, tail]) => {
      const written = Buffer.concat([theirs.write(message), tail]);
      if (written.length > 0) written[at % written.length] = value;
      return written.subarray(0, Math.max(1, (at * value) % (written.length + 1)));
    });
  propertyTest(
    "throws for damaged bytes, or reads what both can write",
    { runs: 500, given: damaged },
    (sent) => {
      let message: object;
      try {
        message = ours.read(sent);
      } catch (error) {
        expect(error).toHaveProperty("message", expect.stringContaining("not protobuf"));
        return;
      }
      const again = ours.write(message);
      expect(again.length).toBeLessThanOrEqual(3 * sent.length);
      expect(ours.read(again)).toEqual(message);
      expect(ours.read(theirs.write(message))).toEqual(message);
    },
  );
});

test.each([
  ["a text longer than the message", "1205 61"],
  ["a text of 2^32 bytes", "12ffffffff0f 61"],
  ["a text of 2^63 bytes", "12ffffffffffffffff7f 61"],
  ["a text without its length", "12"],
  ["a length that is cut off", "1280"],
  ["a number of more than 10 bytes", `28${"80".repeat(10)}01`],
  ["a tag of 11 bytes", `${"80".repeat(10)}01`],
  ["eight bytes, cut off", "2900000000000000"],
  ["the end of no group", "2c"],
  ["a group without its end", "2b 1201 61"],
  ["a wire type that does not exist", "2e"],
  ["field 0", "0200"],
  ["field 2^29", "8280808010 00"],
  ["a tag of 9 bytes", "92ffffffffffffff7f 00"],
  ["the end of another group", "2b 34"],
  ["groups that end in the other order", "2b 33 2c 34"],
])("bytes that are not protobuf are refused: %s", (_what, hex) => {
  for (const [, , { read }] of MESSAGES) expect(() => read(bytesOf(hex))).toThrow("not protobuf");
});

const { responseDeserialize: readInfo } = registration.GetInfo;
const EMPTY = { type: "", name: "", endpoint: "", supportedVersions: [] };

test.each([
  ["the last one of a field counts", "120161 120162", { name: "b" }],
  ["a field of another wire type is unknown", "1001 1561616161 120161 08ffffffffffffffffff01", { name: "a" }],
  ["a field in a group is the group's", "2b 120162 2b 120162 2c 2c 120161", { name: "a" }],
  ["the last number of a field is unknown", "faffffff0f 00 120161", { name: "a" }],
  ["bytes that are not UTF-8 are replaced", "1202ff61", { name: "\ufffda" }],
  ["after a thousand fields nothing is read", `${"2800".repeat(1_000)}120161`, {}],
])("%s", (_what, hex, found) => {
  expect(readInfo(bytesOf(hex))).toEqual({ ...EMPTY, ...found });
});

test.each([registration, identity].flatMap((methods) => Object.entries(methods)))(
  "%s has empty fields for missing ones",
  (_name, method) => {
    const [request, response] = [codecOf(method, "request"), codecOf(method, "response")];
    for (const { write, read } of [request, response]) expect(write({})).toEqual(write(read(write({}))));
  },
);

test("a key of a map may be __proto__", () => {
  const { manifest } = identity.GetPluginInfo.responseDeserialize(
    bytesOf(`1a0e 0a09${Buffer.from("__proto__").toString("hex")}120178`),
  );
  expect(Object.entries(manifest)).toEqual([["__proto__", "x"]]);
});

const TEXT = Buffer.from([0x0a, 2, 97, 98]);
const ENTRY = Buffer.from([0x1a, 0]);
const times = (field: Buffer, count: number) => Buffer.concat(Array<Buffer>(count).fill(field));
const ALL = Number.POSITIVE_INFINITY;
const VARINT = Buffer.from("08ac02", "hex");
const FIXED = Buffer.from(`09${"00".repeat(8)}0d00000000`, "hex");
const MIXED = Buffer.concat([TEXT, VARINT, FIXED, ENTRY]);

test.each<[string, Buffer, number]>([
  ["nothing", Buffer.alloc(0), ALL],
  ["a field of each kind", MIXED, ALL],
  ["a thousand fields", times(ENTRY, 1_000), ALL],
  ["a text of 4 MB", Buffer.concat([Buffer.from("0a80a4f401", "hex"), Buffer.alloc(4_002_304)]), ALL],
  ["a text that is cut off", Buffer.from([0x0a, 200, 1]), ALL],
  ["empty entries", times(ENTRY, 250_000), 2_000],
  ["texts", times(TEXT, 1_001), 4_000],
  ["numbers of two bytes", times(VARINT, 5_000), 3_000],
  ["all after an empty group", Buffer.concat([Buffer.from("7b7c", "hex"), times(ENTRY, 300_000)]), 1_998],
  ["fields of each kind", times(MIXED, 400), 200 * MIXED.length],
])("%s: the first thousand", (_what, message, length) => {
  const first = firstFields(message);
  expect(first).toHaveLength(Math.min(length, message.length));
  expect(message.subarray(0, length).equals(first)).toBe(true); // Of 4 MB Jest takes seconds to compare each byte.
  if (length === ALL) expect(first).toBe(message);
});
