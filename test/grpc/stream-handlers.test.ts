import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as turn } from "node:timers/promises";
import { unaryHandler } from "../../src/grpc/handlers";
import { BAD, bug, FAILED, type Handler, raise, serveHandlers } from "./served-handlers";

const coded = Object.assign(new Error("gone"), { code: 5 });
class Info {
  readonly a = 1;
}
interface Stream extends Writable, AsyncIterable<unknown> {
  end(trailers?: unknown): this;
}
const wrong = (what: string) => [13, expect.stringContaining(what)];
const pulled = async (stream: Stream) => {
  for await (const request of stream) stream.write(request);
  stream.end();
};
/** What a handler does to its stream of answers, and how the call ends; the log has what it did wrong. */
const STREAMS: readonly (readonly [string, (stream: Stream) => unknown, unknown, (readonly string[])?])[] = [
  ["throws", () => raise(bug()), [13, bug().message]],
  ["rejects", async () => raise(bug()), [13, bug().message]],
  ["emits an Error", (stream) => stream.emit("error", bug()), [2, bug().message]],
  ["emits an error with a code", (stream) => stream.emit("error", coded), [5, "gone"], []],
  ["emits a plain object", (stream) => stream.emit("error", { details: "no disk" }), [2, "no disk"]],
  [
    "emits a status with plain metadata",
    (stream) => stream.emit("error", { code: 5, details: "a\ud83d", metadata: { wait: "1s" } }),
    [5, "a\ufffd"],
    [],
  ],
  ["emits a text later", (stream) => setImmediate(() => stream.emit("error", "no disk")), [2, "no disk"]],
  ["destroys the call with an error", (stream) => stream.destroy(bug()), [2, bug().message]],
  ["destroys the call", (stream) => stream.destroy(), wrong("the handler destroyed its call")],
  ["writes a Map", (stream) => stream.write(new Map()), wrong("answered an instance of Map")],
  ["writes an Error", (stream) => stream.write(bug()), [13, bug().message]],
  ["writes a text", (stream) => stream.write("x"), wrong("takes a plain object, {} for an empty answer")],
  ["writes a number", (stream) => stream.write(5), wrong("answered 5")],
  ["writes undefined", (stream) => stream.write(undefined), wrong("wrote undefined")],
  ["writes null later", (stream) => setImmediate(() => stream.write(null)), wrong("wrote null")],
  ["writes what cannot be encoded", (stream) => stream.write({ a: 1n }), [13, expect.any(String)], [BAD]],
  [
    "writes more after what cannot be encoded",
    (stream) => [{ a: 1 }, { a: 1n }, { a: 2 }].map((answer) => stream.write(answer)),
    [13, expect.any(String)],
    [BAD],
  ],
  ["ends with an answer", (stream) => stream.end({ a: 1 }), wrong("end() takes Metadata")],
  [
    "writes after the end",
    (stream) => {
      stream.write({});
      stream.end();
      stream.write({});
    },
    [2, "write after end"],
  ],
  ["returns a list", async () => [{ a: 1 }], wrong("the handler returned an array; a stream's answers")],
  [
    "returns the list that it wrote, and ends later",
    async (stream) => {
      stream.write({ a: 1 });
      setImmediate(() => stream.end());
      return [{ a: 1 }];
    },
    [0, [{ a: 1 }]],
    [],
  ],
  ["returns an answer", async () => ({ a: 1 }), wrong("the handler returned an object; a stream's answers")],
  [
    "calls back",
    ((_: unknown, answer: () => void) => answer()) as never,
    wrong("called back; a stream's answers"),
  ],
  ["returns an instance", () => new Info(), wrong("; a stream's answers are written")],
  [
    "returns what is no answer, and ends later",
    (stream) => {
      setImmediate(() => stream.end());
      return { startedAt: 1 };
    },
    [0, []],
    [],
  ],
  ["is an async generator", failingSource, wrong("a stream's answers are written with call.write()")],
  ["returns what it reads from", (stream) => Readable.from([{ a: 1 }]).pipe(stream), [0, [{ a: 1 }]], []],
  ["is one of unaryHandler", unaryHandler(() => ({ a: 1 })) as never, wrong("this method has a stream")],
  ["is a pipeline that fails", (stream) => pipeline(failingSource(), stream).catch(() => {}), [2, "no disk"]],
  ["is a pipeline", (stream) => pipeline([{ a: 1 }], stream), [0, [{ a: 1 }]], []],
  ["answers", (stream) => stream.end(void stream.write({ a: 1 })), [0, [{ a: 1 }]], []],
];
async function* failingSource() {
  yield { a: 1 };
  throw new Error("no disk");
}

test.each(STREAMS)(
  "a stream ends, and its handler's faults are logged: it %s",
  async (_what, act, expected, lines = [FAILED]) => {
    await using served = await serveHandlers({ list: act as Handler });
    expect(await served.stream("list")).toEqual(expected);
    await turn();
    expect(served.problems()).toEqual(lines);
  },
);

test.each<[string, (stream: Stream) => unknown, unknown, readonly string[]]>([
  ["reads with for await, and answers each", pulled, [0, [{ a: 1 }, { a: 2 }]], []],
  [
    "leaves its for await early",
    async (stream) => {
      for await (const _request of stream) break;
    },
    wrong("leaving a `for await` early"),
    [FAILED],
  ],
  [
    "throws in a listener",
    (stream) => void stream.on("data", () => raise(bug())),
    [13, bug().message],
    [FAILED],
  ],
  ["is one of unaryHandler", unaryHandler(() => ({})) as never, wrong("this method has a stream"), [FAILED]],
])("a stream both ways ends: its handler %s", async (_what, act, expected, lines) => {
  await using served = await serveHandlers({ chat: act as Handler });
  expect(await served.stream("chat", [{ a: 1 }, { a: 2 }])).toEqual(expected);
  expect(served.problems()).toEqual(lines);
});
