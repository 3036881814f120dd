import { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { type CallContext, unaryHandler } from "../../src/grpc/handlers";
import { eventually } from "../support/eventually";
import {
  ask,
  BAD,
  bug,
  type Callback,
  collect,
  FAILED,
  type Handler,
  later,
  NOTHING,
  raise,
  serveHandlers as serve,
} from "./served-handlers";

const INVALID = "A handler's metadata is invalid, nothing of it is sent";
const TWICE = "A handler answered twice, the first answer counts";
const RETURNED = "A handler returned an answer after it had called back; only its callback counts";
const coded = Object.assign(new Error("gone"), { code: status.NOT_FOUND });
const OK = [0, { a: 1 }];
class Info {
  readonly a = 1;
}
class Message extends Info {
  static encode() {}
}
const of = (what: string) => [13, expect.stringContaining(`answered an instance of ${what}`)];
const REFUSED: readonly Refusal[] = [
  ["a Map", () => new Map(), of("Map"), [FAILED]],
  ["a buffer", () => Buffer.of(1), of("Buffer"), [FAILED]],
  ["Metadata", () => new Metadata(), of("Metadata"), [FAILED]],
  ["an instance", () => new Info(), OK, []],
  ["an instance without a name", () => new (class {})(), of("an anonymous class"), [FAILED]],
  ["an Error", () => bug(), [13, bug().message], [FAILED]],
  ["an Error of another realm", () => runInNewContext('new Error("no disk")'), [13, "no disk"], [FAILED]],
  ["an Error with a code", () => coded, [5, "gone"], [FAILED]],
  ["a message", () => new Message(), OK, []],
  ["a message with a method of its own", () => ({ a: 1, toJSON() {} }), OK, []],
  ["an object without prototype", () => Object.assign(Object.create(null), { a: 1 }), OK, []],
  ["an object of another realm", () => runInNewContext("({ a: 1 })"), OK, []],
];
const MISPLACED = [13, expect.stringContaining("write callback(null, answer)")];
type Refusal = readonly [string, () => unknown, unknown, readonly string[]];

/** What a handler does with its callback, if it has one, and what comes of it: the answer, and the lines of the log. */
const BY_CALLBACK: readonly (readonly [string, (answer: Callback) => unknown, unknown, readonly string[]])[] =
  [
    ["an answer", (answer) => answer(null, { a: 1 }), OK, []],
    ["no value", (answer) => answer(null), [0, {}], [NOTHING]],
    ["an answer later", (answer) => void setImmediate(answer, null, { a: 1 }), OK, []],
    ["an answer later, returning a timer", (answer) => setImmediate(answer, null, { a: 1 }), OK, []],
    ["a number", (answer) => answer(null, 5), [13, expect.stringContaining("answered 5")], [FAILED]],
    ["two answers", (answer) => [answer(null, { a: 1 }), answer(bug())], OK, [TWICE]],
    ["an error with a code", (answer) => answer(coded), [5, "gone"], []],
    ["an error without one", (answer) => answer(bug()), [2, bug().message], [FAILED]],
    ["the answer in the error's place", (answer) => answer({ a: 1 }), MISPLACED, [FAILED]],
    ["a text as error", (answer) => answer("no disk"), [2, "no disk"], [FAILED]],
    ["half of a surrogate pair", (answer) => answer({ code: 5, details: "a\ud83d" }), [5, "a\ufffd"], []],
    ["what cannot be encoded", (answer) => answer(null, { a: 1n }), [13, expect.any(String)], [BAD]],
    ...REFUSED.map(
      ([what, make, ...expected]) => [what, (answer: Callback) => answer(null, make()), ...expected] as const,
    ),
    ["trailers that are none", (answer) => answer(null, { a: 1 }, 7), OK, [INVALID]],
    [
      "an answer, then an exception",
      (answer) => {
        answer(null, { a: 1 });
        throw bug();
      },
      OK,
      [FAILED],
    ],
  ];
const BY_RETURN: readonly Refusal[] = [
  ...REFUSED,
  ["an answer", () => ({ a: 1 }), OK, []],
  ["undefined", () => {}, [0, {}], [NOTHING]],
  ["null", () => null, [0, {}], [NOTHING]],
  ["a number", () => 5, [13, expect.stringContaining("answered 5")], [FAILED]],
  ["a list", () => [{}], [13, expect.stringContaining("answered an array")], [FAILED]],
  ["what cannot be encoded", () => ({ a: 1n }), [13, expect.any(String)], [BAD]],
  ["an exception", () => raise(bug()), [13, bug().message], [FAILED]],
  ["an exception with a code", () => raise(coded), [5, "gone"], []],
  ["a text thrown", () => raise("no disk"), [13, "no disk"], [FAILED]],
  ["undefined thrown", () => raise(undefined), [13, "undefined"], [FAILED]],
];

const FORGOTTEN = [13, expect.stringContaining("unaryHandler(")];
/** Answers in a later turn, and returns something before. */
const answerLater =
  (returned: unknown): Handler =>
  (_call, answer) => {
    setImmediate(answer, null, { a: 1 });
    return returned;
  };
const late = answerLater({ startedAt: 1 });
/** Answers by callback, and returns an answer, too. */
function answerAnd(answer: Callback | undefined, returned: object): object {
  answer?.(null, { a: 1 });
  return returned;
}

/** As wrappers do. */
const answerAndReturn: Handler = async (_call, answer) => {
  const same = { a: 1 };
  answer(null, same);
  return same;
};

/** As a stream's handler does. */
function writeTo(call: unknown): Writable {
  (call as Writable).write({ a: 1 });
  return call as Writable;
}

type Shape = readonly [string, Handler, unknown, readonly string[]];
const SHAPES: readonly Shape[] = [
  ...BY_CALLBACK.flatMap(([what, act, ...expected]): Shape[] => [
    [`a callback: ${what}`, (_call, answer) => act(answer), ...expected],
    [`async with a callback: ${what}`, async (_call, answer) => void act(answer), ...expected],
  ]),
  ...BY_RETURN.flatMap(([what, act, ...expected]): Shape[] => [
    [`without parameters: ${what}`, () => act(), ...expected],
    [`plain: ${what}`, (_call) => act(), ...expected],
    [`async: ${what}`, async (_call) => act(), ...expected],
    [`a late promise: ${what}`, (_call) => turn().then(act), ...expected],
    [`unaryHandler: ${what}`, unaryHandler(() => act()) as Handler, ...expected],
    [`unaryHandler, async: ${what}`, unaryHandler(async () => act()) as Handler, ...expected],
  ]),
  ...[{ a: 1 }, {}, new Message(), new Info(), [new Info()], [{ a: 1 }], runInNewContext("({ a: 1 })")].map(
    (given): Shape => ["a forgotten unaryHandler", (_request, _context) => given, FORGOTTEN, [FAILED]],
  ),
  ...[
    5,
    null,
    "",
    [],
    [undefined],
    new (class {
      readonly b = 1;
    })(),
    Object.assign(new EventEmitter(), { a: 1 }),
    Buffer.of(1),
    { ref: () => {} },
    [setTimeout(() => {}, 0)],
  ].map((given): Shape => ["a callback, returns what may be no answer", answerLater(given), OK, []]),
  ["a callback later, returns an object of its own", late, OK, []],
  ["the same, async", async (call, answer) => late(call, answer), OK, []],
  ["the same, all parameters in one", async (...all) => late(...all), OK, []],
  ["a forgotten unaryHandler, and a mistyped field", (_c, _) => ({ volumes: "" }), FORGOTTEN, [FAILED]],
  ["a forgotten unaryHandler, and a late callback", answerLater({}), FORGOTTEN, [FAILED, TWICE]],
  ["a callback, then another answer", (_call, answer) => answerAnd(answer, { a: 2 }), OK, [RETURNED]],
  ["async with a callback, then another answer", async (_c, answer) => answerAnd(answer, {}), OK, [RETURNED]],
  ["a callback without parameters, then another answer", (...all) => answerAnd(all[1], {}), OK, [RETURNED]],
  ["a callback, then what is no answer", (_call, answer) => answerAnd(answer, { rows: 1 }), OK, []],
  ["a callback without parameters, returns an instance", (..._all) => new Info(), OK, []],
  ["a callback, then the same answer", answerAndReturn, OK, []],
  ["async with a callback, returns an answer", async (_call, _answer) => ({ a: 1 }), FORGOTTEN, [FAILED]],
  ["async, returns a timer", async (_, answer) => setTimeout(answer, 9, null, { a: 1 }), OK, []],
  [
    "async with a callback, and another answer before it",
    async (_call, answer) => answerLater({ a: 2 })(_call, answer),
    FORGOTTEN,
    [FAILED, TWICE],
  ],
  ["async with a callback, throws", async (_call, _answer) => raise(bug()), [13, bug().message], [FAILED]],
  ["a callback, throws", (_call, _answer) => raise(bug()), [13, bug().message], [FAILED]],
  ["a call that it ends", (call, _answer) => void (call as Writable).end(), MISPLACED, [FAILED]],
  ["a call that it writes to", (call, _) => void (call as Writable).write({ a: 1 }), OK, []],
  ["a call that it writes to, then ends", (call) => writeTo(call).end(), OK, []],
  ["a call that it writes to, then a callback", (call, answer) => answer(null, writeTo(call)), OK, [TWICE]],
  ["all parameters in one", (...all) => all[1]?.(null, { a: 1 }), OK, []],
  ["all parameters in one, async", async (...all) => all[1]?.(null, { a: 1 }), OK, []],
  ["a mock", jest.fn().mockImplementation((_call, answer) => answer(null, { a: 1 })) as Handler, OK, []],
];

test.each(SHAPES)("a call is answered, and the handler's faults are logged: %s", async (_what, ...given) => {
  const [handler, expected, lines] = given;
  await using served = await serve({ ask: handler });
  expect(await served.call().answered).toEqual(expected);
  await turn();
  expect(served.problems()).toEqual(lines);
  for (const { fields, error = "" } of served.log.records.filter(({ message }) => message === FAILED)) {
    expect(fields).toEqual({ method: ask.path });
    const thrown = /answered an instance of \w*Error/.test(String(error)) ? (error as Error).cause : error;
    if (String(thrown) === String(bug())) expect((thrown as Error).stack).toMatch(/handlers\.test/);
  }
});

test("the context has grpc's metadata, deadline, peer; initial and trailing metadata go back", async () => {
  const contexts: CallContext[] = [];
  const handle = (_request: unknown, context: CallContext) => {
    contexts.push(context);
    context.sendMetadata(Metadata.fromHttp2Headers({ first: "1" }));
    context.trailingMetadata.add("last-bin", Buffer.of(0, 255));
    if (contexts.length > 2) throw Object.assign(bug(), { metadata: { own: "x" } });
    if (contexts.length > 1) throw coded;
    return {};
  };
  await using served = await serve({ ask: unaryHandler(handle) as Handler });
  const metadata = new Metadata();
  for (const value of ["a", "b"]) metadata.add("key", value);
  for (const last of [254, 255]) metadata.add("key-bin", Buffer.of(0, last));
  const deadline = Date.now() + 600_000;
  const good = served.call({ metadata, deadline });
  expect(await good.answered).toEqual([0, {}]);
  const bad = served.call();
  expect(await bad.answered).toEqual([5, "gone"]);
  for (const { seen } of [good, bad]) {
    expect(seen.initial?.get("first")).toEqual(["1"]);
    expect(seen.trailing?.get("last-bin")).toEqual([Buffer.of(0, 255)]);
  }
  const own = served.call();
  expect((await own.answered)[0]).toBe(status.INTERNAL);
  expect([own.seen.trailing?.get("own"), own.seen.trailing?.get("last-bin")]).toEqual([["x"], []]);
  const [first, second] = contexts;
  expect(first?.metadata.get("key")).toEqual(["a, b"]);
  expect(first?.metadata.get("key-bin")).toEqual([Buffer.of(0, 254), Buffer.of(0, 255)]);
  expect([first?.peer, second?.deadlineAtMs]).toEqual(["unknown", Number.POSITIVE_INFINITY]);
  expect(Math.abs((first?.deadlineAtMs ?? 0) - deadline)).toBeLessThan(60_000);
  expect(first?.signal.aborted).toBe(false);
});

test.each<[code: unknown, hint: RegExp | undefined]>([
  ["NOT_FOUND", /string "NOT_FOUND".*status\.NOT_FOUND$/],
  ["5", /string "5".*status\.NOT_FOUND$/],
  ["ENOENT", undefined],
  ["toString", undefined],
  [5, /number alone.* \{ code: status\.NOT_FOUND, /],
])("a status alone, or as a string in an error, has a hint in the log: %j", async (code, hint) => {
  const error = () => (code === 5 ? code : Object.assign(new Error("no volume"), { code })) as Error;
  const handlers: readonly Handler[] = [
    (_call) => raise(error()),
    (_call, answer) => answer(error()),
    unaryHandler(() => raise(error())) as Handler,
  ];
  for (const handle of handlers) {
    await using served = await serve({ ask: handle });
    const [sent, details] = await served.call().answered;
    expect([[2, 13].includes(sent), details]).toEqual([true, code === 5 ? "5" : "no volume"]);
    const { fields } = await served.log.when(FAILED);
    expect(fields.hint).toEqual(hint && expect.stringMatching(hint));
  }
});

test.each([1_014, 65_537])("a status text of %d characters is cut, in the log at 65,536", async (length) => {
  const text = "x".repeat(length);
  await using served = await serve({ ask: (_call, answer) => answer({ code: 13, details: text }) });
  expect(await served.call().answered).toEqual([13, text.slice(0, 1_000)]);
  const { fields } = await served.log.when(CUT);
  expect(fields).toEqual({ method: ask.path, text: text.slice(0, 65_536), length });
  expect(served.problems()).toEqual([CUT]);
});
const CUT = "A status text is longer than 1000 characters, the rest is not sent";
const UNSENDABLE = "A call's metadata cannot be sent";
const given = (metadata: unknown) => metadata as Metadata;
const own = (metadata: unknown) =>
  unaryHandler((_request, call) => Object(call.sendMetadata(given(metadata)))) as Handler;
const direct =
  (metadata: unknown): Handler =>
  (call, answer) => {
    (call as CallContext).sendMetadata(given(metadata));
    answer(null, {});
  };
const trailing =
  (metadata: unknown): Handler =>
  (_call, answer) =>
    answer(null, {}, metadata);
const failing =
  (metadata: unknown): Handler =>
  (_call, answer) =>
    answer(Object.assign(new Error("gone"), { code: status.NOT_FOUND, metadata }), null);
const twice = unaryHandler((_request, call) => {
  for (const first of ["1", "2"]) call.sendMetadata({ first });
  return {};
}) as Handler;
const ILLEGAL = Metadata.fromHttp2Headers({ connection: "close" });

test.each<[string, Handler, number, readonly string[]]>([
  ["a plain object", own({ first: "1", second: undefined }), 0, []],
  ["a plain object, sent by the call itself", direct({ first: "1" }), 0, []],
  ["a text", own("first"), status.INTERNAL, [FAILED]],
  ["a text, sent by the call itself", direct("first"), status.INTERNAL, [FAILED]],
  ["a list", own([["first", "1"]]), status.INTERNAL, [FAILED]],
  ["a Map", own(new Map([["first", "1"]])), status.INTERNAL, [FAILED]],
  ["a value that no header has", own({ first: "ü\n" }), status.INTERNAL, [FAILED]],
  ["a key that no header has", own({ "a b": "1" }), status.INTERNAL, [FAILED]],
  ["a number", own({ first: 1 }), status.INTERNAL, [FAILED]],
  ["metadata twice", twice, 0, ["A handler sent initial metadata twice, the second is ignored"]],
  ["an error with a list", failing(["a"]), status.NOT_FOUND, [INVALID]],
  ["an error with a value that no header has", failing({ a: "ü" }), status.NOT_FOUND, [INVALID]],
  ["an error with a plain object", failing({ a: "1", "b-bin": "AA==" }), status.NOT_FOUND, []],
  ["a header that HTTP/2 forbids", own(ILLEGAL), status.INTERNAL, [UNSENDABLE]],
  ["a header that HTTP/2 forbids, sent by the call itself", direct(ILLEGAL), status.INTERNAL, [UNSENDABLE]],
  ["a trailer that HTTP/2 forbids", trailing(ILLEGAL), status.INTERNAL, [UNSENDABLE]],
])("a call ends whatever its handler sends as metadata: %s", async (_what, handler, code, lines) => {
  await using served = await serve({ ask: handler });
  const { answered, seen } = served.call();
  expect((await answered)[0]).toBe(code);
  if (code === status.OK) expect(seen.initial?.get("first")).toEqual(["1"]);
  await eventually(() => expect(served.problems()).toEqual(lines));
});

test("a late callback of a handler that declares none, and has returned an answer, throws the rule", async () => {
  await using served = await serve({ ask: (...all) => answerLater({ a: 2 })(...all) });
  expect(await served.call().answered).toEqual([0, { a: 2 }]);
  const { fields } = await served.log.when(TWICE);
  expect(fields).toMatchObject({ hint: expect.stringContaining("declare (call, callback)") });
});

const read = async (requests: unknown, most = 9) => {
  let a = 0;
  for await (const _request of requests as AsyncIterable<unknown>) if (++a === most) break;
  return { a };
};
test.each<[string, Handler, unknown, readonly string[]]>([
  ["rejects", async (_call) => raise(bug()), [13, bug().message], [FAILED]],
  ["answers by promise when it has read all", (call) => read(call), [0, { a: 2 }], []],
  ["answers by promise when it has read one", (call) => read(call, 1), [0, { a: 1 }], []],
  ["answers by callback", (call, answer) => void read(call).then((a) => answer(null, a)), [0, { a: 2 }], []],
  ["throws in a listener", (call, _) => listen(call, () => raise(bug())), [13, bug().message], [FAILED]],
  ["destroys its call", (call, _) => void (call as Readable).destroy(bug()), [13, bug().message], [FAILED]],
  ["is one of unaryHandler", unaryHandler(() => OK) as Handler, [13, expect.anything()], [FAILED]],
])(
  "a stream of requests is answered like a single one: its handler %s",
  async (_what, handle, expected, lines) => {
    await using served = await serve({ collect: handle });
    const { path, requestSerialize, responseDeserialize } = collect;
    for (let call = 0; call < 2; call++) {
      const { promise, resolve } = later<unknown>();
      const requests = served.client.makeClientStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        (error: ServiceError | null, answer) => resolve(error ? [error.code, error.details] : [0, answer]),
      );
      for (const a of [1, 2]) requests.write({ a });
      requests.end();
      expect(await promise).toEqual(expected);
    }
    expect(served.problems()).toEqual([...lines, ...lines]);
  },
);
const listen = (call: unknown, hear: () => void) => void (call as Readable).on("data", hear);
