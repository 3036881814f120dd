import { isDeepStrictEqual } from "node:util";
import { fromJSON, type Options } from "@grpc/proto-loader";
import { parse } from "protobufjs";
import { attempt } from "../../src/base/errors";
import { createAnswerTypes } from "../../src/grpc/descriptors";
import { checkMessage } from "../../src/grpc/message-check";

// Names that protobufjs writes ambiguously into descriptors, too: the map `inner` has entries of a type `Inner`, which is also a message.
const PROTO = `syntax = "proto3"; package x.v1;
  message Inner { string text = 1; map<string, string> labels = 2; repeated Inner inners = 3; }
  enum Kind { NONE = 0; BLOCK = 1; MOUNT = 5; }
  message Wrapper { bool value = 1; }
  message Request {}
  message Answer {
    message Nested { enum Mode { OFF = 0; ON = 1; } Mode mode = 1; sint32 number = 2; }
    string text = 1; bytes raw = 2; bool flag = 3; int32 i32 = 4; uint32 u32 = 5; sint64 i64 = 6; uint64 u64 = 7;
    double f64 = 8; float f32 = 9; Kind kind = 10; Nested nested = 11; Wrapper wrapped = 12; Inner other = 13;
    repeated string texts = 14; repeated fixed64 u64s = 15; repeated Kind kinds = 16; repeated Nested nesteds = 17;
    map<string, string> labels = 18; map<int32, Nested> inner = 19; map<bool, Kind> kinds_by = 20; map<string, sfixed64> i64s = 21;
    oneof one { string either = 22; Nested or = 23; } optional string maybe = 24;
  }
  service S { rpc Ask(Request) returns (Answer); }`;

function serviceOf(options: Options, proto = PROTO) {
  const { root } = parse(proto, { keepCase: options.keepCase ?? false });
  const service = fromJSON(root.toJSON(), options)["x.v1.S"] as never;
  const types = createAnswerTypes();
  types.add(service);
  const type = types.of("/x.v1.S/Ask");
  if (type === undefined) throw new Error("the message is not found");
  const { Ask } = service as {
    readonly Ask: { responseSerialize(value: object): Buffer; responseDeserialize(bytes: Buffer): object };
  };
  return {
    check: (answer: object) => checkMessage(answer, type),
    send: (answer: object) => Ask.responseDeserialize(Ask.responseSerialize(answer)),
  };
}
const { check, send } = serviceOf({ longs: String, enums: String, bytes: String });

const DIGITS = "18446744073709551615";
const half = "\ud83d";
/** What the client gets; throws where it gets nothing, or the server says something. */
const sentSilently = (answer: object) => {
  const received = send(answer);
  expect(check(answer)).toEqual([]);
  return received;
};

const mode = { mode: "ON", number: -3 };
const WHOLE = {
  ...{
    text: "a",
    nested: mode,
    other: { text: "b", labels: { "a/b": "c", __proto: "" }, inners: [{ text: "c" }, {}] },
  },
  ...{
    texts: ["a", ""],
    u64s: ["1", DIGITS],
    kinds: ["NONE", "MOUNT"],
    nesteds: [mode, {}],
    labels: { "": "" },
  },
  ...{ inner: { 7: mode, "-7": {} }, kindsBy: { true: "BLOCK" }, i64s: { a: "-1" }, or: mode, maybe: "" },
};

test("a whole answer passes, under the names of its fields with and without keepCase", () => {
  expect(sentSilently(WHOLE)).toEqual(WHOLE);
  const kept = serviceOf({ keepCase: true, enums: String });
  expect(kept.check({ kinds_by: { true: "BLOCK" } })).toEqual([]);
  expect(kept.check({ kindsBy: { true: "BLOCK" } })).toEqual(["kindsBy; did you mean kinds_by?"]);
});

test("a type that a nested one of its name hides is not taken for that one", () => {
  const hiding = serviceOf(
    {},
    `syntax = "proto3"; package x.v1;
    message Status { string text = 1; } message Top { string text = 1; } message Request {}
    message Answer {
      message Status { int32 text = 1; }
      message Inner { message Top { int32 text = 1; } .x.v1.Top top = 1; Top own = 2; Request other = 3; }
      .x.v1.Status status = 1; repeated x.v1.Status list = 2; Status own = 3; map<string, .x.v1.Status> map = 4; Inner inner = 5;
    }
    service S { rpc Ask(Request) returns (Answer); }`,
  );
  const [outer, own] = [{ text: "a" }, { text: 1 }];
  const inner = { top: outer, own, other: {} };
  const answer = { status: outer, list: [outer], own, map: { a: outer }, inner };
  expect(hiding.check(answer)).toEqual([]);
  expect(hiding.send(answer)).toEqual(answer);
  expect(hiding.check({ inner: { other: { text: 1 } } })).toEqual(["inner.other.text"]);
  expect(() => hiding.check({ status: new Date(0) })).toThrow("status is a Date; it takes a plain object");
});

test("a field that any object inherits is refused if it is not set, because protobuf would send the source of a function", () => {
  const proto = `syntax = "proto3"; package x.v1; message Request {} message Answer { string constructor = 1; }
    service S { rpc Ask(Request) returns (Answer); }`;
  const { check, send } = serviceOf({}, proto);
  expect(send({})).toEqual({ constructor: "function Object() { [native code] }" });
  expect(() => check({})).toThrow("the answer's constructor is not set, and protobuf would send that of");
  expect(check({ constructor: "a" })).toEqual([]);
  expect(check(Object.create(null))).toEqual([]);
});

test.each<[object, string]>([
  [{ labels: new Map([["a", "b"]]) }, "labels is a Map; it takes a plain object"],
  [{ labels: { "a/b": undefined } }, 'labels["a/b"] is undefined; it takes a string'],
  [
    { other: { inners: [{}, { labels: { a: [] } }] } },
    "other.inners[1].labels.a is an array; it takes a string",
  ],
  [{ other: { text: new Date(0) } }, "other.text is a Date; it takes a string"],
  [
    { i64: 2n ** 63n },
    "i64 is 9223372036854775808n; it takes a whole number, -9223372036854775808 to 9223372036854775807, as a number, a BigInt,",
  ],
  [{ nesteds: [{ mode: "on" }] }, 'nesteds[0].mode is "on"; it takes one of OFF, ON, or its number'],
  [{ other: { text: `a${half}` } }, "other.text has half of a surrogate pair"],
  [{ labels: { [half]: "a" } }, 'labels["\\ud83d"] is under a key that has half of a surrogate pair'],
  [{ other: new Map() }, "other is a Map; it takes a plain object with text, labels, inners"],
  [{ nesteds: {} }, "nesteds is an object; it takes a list"],
  [{ texts: Array(2) }, "texts[0] is undefined; it takes a string"],
  [{ inner: { x: {} } }, "inner.x is under a key that is not a whole number"],
  [{ kindsBy: { false: 1 } }, "kindsBy.false is under a key that protobufjs sends as true"],
  [{ inner: { "1.5": {} } }, 'inner["1.5"] is under a key that is not a whole number'],
  [{ either: "a", or: {} }, "or is there beside either; protobuf sends one of them"],
])("the path and the reason are told: %#", (answer, expected) => {
  expect(() => check(answer)).toThrow(`the answer's ${expected}`);
});

test("a oneof's name is known only where it names the field that is there, as proto-loader sets it", () => {
  const { check, send } = serviceOf({ oneofs: true });
  for (const fields of [{}, { either: "a" }, { or: {} }, { text: "a" }])
    for (const one of ["", 5, true, {}, [], "either", "or", "text", { or: {} }]) {
      const answer = { ...fields, one };
      const isSent = attempt(() => isDeepStrictEqual(send(answer), answer)) ?? false;
      expect([answer, check(answer)]).toEqual([answer, isSent ? [] : ["one, a oneof: set either or or"]]);
    }
});

test("fields that the message does not have are named, with a near one; what is undefined is not", () => {
  const answer = {
    txet: "a",
    nested: { Mode: "ON", one: "x" },
    other: undefined,
    zzzzzz: 1,
    absent: null,
  };
  expect(check(answer)).toEqual([
    "nested.Mode; did you mean mode?",
    "nested.one",
    "txet; did you mean text?",
    "zzzzzz",
  ]);
});
test("what is no message has no fields that could be named", () => {
  const error = new TypeError("the answer's texts[0] is undefined; it takes a string");
  expect(() => check({ texts: Array(2) })).toThrow(error);
});
