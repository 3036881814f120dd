import { EventEmitter } from "node:events";
import { unaryHandler } from "../../src/grpc/handlers";
import { ask, type Callback, FAILED, type Handler, later, serveHandlers as serve } from "./served-handlers";

const MISREAD = "A handler reads a field of the request from its call, where it is undefined";

test.each<[string, Handler]>([
  ["one parameter", (request) => Object(request).volume ?? {}],
  ["a callback", (request, answer) => answer(null, Object(request).volume ?? {})],
])("a handler that takes its call for the request is in the log: with %s", async (_what, handler) => {
  await using served = await serve({ ask: handler });
  for (const request of [{ volume: "v" }, { metadata: 1, cancelled: true }, {}])
    expect(await served.call({ request }).answered).toEqual([0, {}]);
  expect(served.problems()).toEqual([MISREAD]);
  const { fields } = await served.log.when(MISREAD);
  expect(fields).toMatchObject({ method: ask.path, field: "volume" });
});

test.each(["ask", "list"])(
  "a call has its own properties only, also for a handler that looks: %s",
  async (method) => {
    const { promise: looked, resolve: look } = later<unknown>();
    const handle = (call: EventEmitter & { end?(): void; request?: object }) => {
      const names = [...Object.getOwnPropertyNames(call), ...Object.keys({ ...call })];
      const inherited: string[] = [];
      for (const name in call) inherited.push(name);
      const isCall = call instanceof EventEmitter && Object.getPrototypeOf(call) instanceof EventEmitter;
      look({ has: "volume" in call || [...names, ...inherited].includes("volume"), isCall, ...call.request });
      if (method === "list") call.end?.();
      return {};
    };
    await using served = await serve({ [method]: handle as Handler });
    const request = { volume: "v" };
    const answered = method === "ask" ? served.call({ request }).answered : served.stream("list", [request]);
    expect(await answered).toEqual([0, method === "ask" ? {} : []]);
    expect(await looked).toEqual({ has: false, isCall: true, ...request });
    expect(served.problems()).toEqual([]);
  },
);

test("a handler may set a field of its call that the request has, too", async () => {
  const handle: Handler = (call, answer) => {
    const own = call as { volume?: unknown };
    own.volume = "mine";
    answer(null, { volume: own.volume, isHidden: !Object.keys({ ...own }).includes("other") });
  };
  await using served = await serve({ ask: handle });
  const { answered } = served.call({ request: { volume: "v", other: 1 } });
  expect(await answered).toEqual([0, { volume: "mine", isHidden: true }]);
  expect(served.problems()).toEqual([]);
});

test.each<[string, (request: object, context: object) => unknown, text: string]>([
  [
    "the request for its call",
    (call) => Object(call).request.volume,
    "Cannot read properties of undefined (reading 'volume')",
  ],
  [
    "the request for its call, which has metadata",
    (call) => Object(call).metadata.get("key"),
    "Cannot read properties of undefined (reading 'get')",
  ],
  [
    "its context for a callback",
    (_request, callback) => (callback as Callback)(null, {}),
    "callback is not a function",
  ],
])("a function for unaryHandler that takes %s has a hint in the log", async (_what, handle, text) => {
  await using served = await serve({ ask: unaryHandler(handle) as Handler });
  expect(await served.call({ request: { volume: "v" } }).answered).toEqual([13, text]);
  const { fields } = await served.log.when(FAILED);
  expect(fields).toEqual({ method: ask.path, hint: expect.stringContaining("(request, context)") });
});

test("a fault of a function for unaryHandler that takes a request only has no such hint", async () => {
  const handle = (request: object) => {
    const { volume } = Object(request);
    return volume();
  };
  await using served = await serve({ ask: unaryHandler(handle) as Handler });
  const [code, text] = await served.call({ request: { volume: "v" } }).answered;
  expect([code, text]).toEqual([13, expect.stringContaining("is not a function")]);
  const { fields } = await served.log.when(FAILED);
  expect(fields).toEqual({ method: ask.path });
});

test("a request has its own fields only, also for a function that asks which it has", async () => {
  const hasOthers = (request: object) => "request" in request || "metadata" in request;
  await using served = await serve({
    ask: unaryHandler((request: object) => ({ no: !hasOthers(request) })) as Handler,
  });
  expect(await served.call({ request: { volume: "v" } }).answered).toEqual([0, { no: true }]);
});

test.each<[string, Handler]>([
  ["given to the callback", (_call, answer) => answer(UNREADABLE as never)],
  ["thrown by a function for unaryHandler", unaryHandler(() => Promise.reject(UNREADABLE)) as Handler],
])("an error whose getter throws fails its call at once: %s", async (_what, handle) => {
  await using served = await serve({ ask: handle });
  const [code, text] = await served.call({ request: {} }).answered;
  expect(code).not.toBe(0);
  expect(text).toContain("an error that cannot be read");
});

const UNREADABLE = {
  get code() {
    throw new Error("a getter");
  },
};
