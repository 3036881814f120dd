import { type EventEmitter, once } from "node:events";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { Metadata, status } from "@grpc/grpc-js";
import { type CallContext, unaryHandler } from "../../src/grpc/handlers";
import { eventually } from "../support/eventually";
import { expectNothingLeft } from "../support/resources";
import { ask, collect, type Handler, later, NOT_ANSWERED, serveHandlers as serve } from "./served-handlers";

const PENDING = "its promise is still pending";
const CUT = "Cut off a call that was not answered";
type Served = Awaited<ReturnType<typeof serve>>;
type Calls = ReturnType<Served["call"]>;

test.each<[string, (served: Served, call: Calls) => unknown, string, object]>([
  ["its client gives up", (_served, call) => call.cancel(), NOT_ANSWERED, { why: "its client gave up" }],
  ["the server's grace is over", ({ driver }) => driver.close({ graceMs: 1 }), CUT, {}],
  ["the server is destroyed", ({ driver }) => driver.destroy(), CUT, {}],
])("a handler that never answers is in the log when %s", async (_when, end, message, fields) => {
  const { promise: entered, resolve: enter } = later<void>();
  // It looks like one with a callback, and forgot it.
  await using served = await serve({ ask: (_call, _callback) => enter() });
  const call = served.call({ deadline: Date.now() + 600_000 });
  await entered;
  end(served, call);
  const { afterMs } = (await served.log.when(message)).fields;
  expect(afterMs).toBeLessThan(performance.now()); // It counts from the call's begin.
  expect(served.log.all(message)).toMatchObject([{ fields: { method: ask.path, ...fields } }]);
  expect(served.problems()).toEqual([message]);
});

const NEVER = () => new Promise(() => {});
test.each<[string, unknown, unknown]>([
  [
    "returns, without its callback",
    (_call: unknown, _answer: unknown) => {},
    "it has returned, and its callback",
  ],
  ["hides a callback, and returns", (..._all: unknown[]) => {}, "it has returned, and its callback"],
  ["is async, with a callback, and waits", async (_call: unknown, _answer: unknown) => NEVER(), PENDING],
  ["is async, and waits", async (_call: unknown) => NEVER(), PENDING],
  ["is one of unaryHandler, and waits", unaryHandler(NEVER), PENDING],
  ["follows its signal", unaryHandler((_request, { signal }) => once(signal, "abort")), undefined],
])(
  "the log says why a call was not answered when its deadline passes: its handler %s",
  async (_what, ask, hint) => {
    await using served = await serve({ ask: ask as Handler });
    expect((await served.call({ deadline: Date.now() + 200 }).answered)[0]).toBe(status.DEADLINE_EXCEEDED);
    const { severity, fields } = await served.log.when(NOT_ANSWERED);
    expect([severity, fields.method]).toEqual(["warning", "/x.Y/Ask"]);
    expect(fields.hint).toEqual(hint && expect.stringMatching(`^${hint}`));
  },
);

test("with the client gone, a handler that follows its signal is not logged; one that fails is", async () => {
  const { promise: entered, resolve: enter } = later<void>();
  const follow = async (_request: unknown, { signal }: CallContext) => {
    enter();
    await once(signal, "abort");
    signal.throwIfAborted();
  };
  await using served = await serve({ ask: unaryHandler(follow) as Handler });
  const call = served.call();
  await entered;
  call.cancel();
  await served.log.when(NOT_ANSWERED);
  await turn();
  expect(served.problems()).toEqual([NOT_ANSWERED]);
});

test("with the client gone, an error that a handler emits is logged once", async () => {
  const { promise: entered, resolve: enter } = later<void>();
  const emitLate: Handler = (call, _callback) => {
    enter();
    const emitter = call as EventEmitter;
    emitter.on("cancelled", () => emitter.emit("error", new Error("late")));
  };
  await using served = await serve({ ask: emitLate });
  const call = served.call();
  await entered;
  call.cancel();
  await served.log.when("A handler failed");
  await turn();
  expect(served.problems().sort()).toEqual(["A handler failed", NOT_ANSWERED].sort());
});

/** A deadline that the client does not keep: it ends the call. */
const grpcTimeout = (text: string) => Metadata.fromHttp2Headers({ "grpc-timeout": text });

test.each<["ask" | "list"]>([["ask"], ["list"]])(
  "a client whose deadline passes a moment before the server's is not one that gave up: %s",
  async (name) => {
    const { promise: entered, resolve: enter } = later<void>();
    const hang: Handler = (_call, _callback) => enter();
    await using served = await serve({ [name]: hang });
    const metadata = grpcTimeout("300m");
    const call = name === "ask" ? served.call({ metadata }) : served.left(metadata);
    await entered;
    setTimeout(call.cancel, 220);
    const { fields } = await served.log.when(NOT_ANSWERED);
    expect(fields).toMatchObject({
      method: `/x.Y/${name === "ask" ? "Ask" : "List"}`,
      why: "its deadline passed",
    });
  },
);

const OPEN_END = "A call without a deadline is not answered yet";
const unansweredAfterMs = 20;
test("a call without a deadline that is not answered is in the log, once; one with a deadline, and streams of either side are not", async () => {
  const handle = jest.fn();
  const hang: Handler = (_call, _callback) => handle();
  await using served = await serve({ ask: hang, list: hang, collect: hang }, {}, { unansweredAfterMs });
  served.left(new Metadata());
  const { path, requestSerialize, responseDeserialize } = collect;
  const requests = served.client.makeClientStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    () => {},
  );
  requests.write({});
  served.call({ deadline: Date.now() + 600_000 });
  served.call();
  const { fields } = await served.log.when(OPEN_END);
  expect(fields).toMatchObject({
    method: ask.path,
    hint: expect.stringContaining("its callback was not called"),
  });
  await eventually(() => expect(handle).toHaveBeenCalledTimes(4));
  await delay(3 * unansweredAfterMs); // Nothing follows.
  expect(served.problems()).toEqual([OPEN_END]);
});

test("a call without a deadline that was answered leaves no timer", () =>
  expectNothingLeft(async () => {
    await using served = await serve({ ask: () => ({}) });
    expect(await served.call().answered).toEqual([0, {}]);
  }));
