import { unaryHandler } from "../../src/grpc/handlers";
import { ask, type Callback, FAILED, type Handler, serveHandlers as serve } from "./served-handlers";

const MISREAD = "A handler reads a field that its first parameter lacks";

test.each<[string, Handler]>([
  ["one parameter", (request) => void Object(request).volume],
  ["a callback", (request, answer) => answer(null, Object(request).volume)],
])("a handler that takes its call for the request is in the log: with %s", async (_what, handler) => {
  await using served = await serve({ ask: handler });
  for (const request of [{ volume: "v" }, { metadata: 1, cancelled: true }, {}])
    expect(await served.call({ request }).answered).toEqual([0, {}]);
  expect(served.problems()).toEqual([MISREAD]);
  const { fields } = await served.log.when(MISREAD);
  expect(fields).toMatchObject({ method: ask.path, field: "volume" });
});

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

test("a function for unaryHandler that takes the request for its call, or its context for a callback, is in the log", async () => {
  await using served = await serve({
    ask: unaryHandler((call) => Object(call).request ?? Object(call).volume) as Handler,
  });
  const { answered } = served.call({ request: { volume: { a: 1 } } });
  expect(await answered).toEqual([0, { a: 1 }]);
  const misread = await served.log.when(MISREAD);
  expect(misread.fields).toMatchObject({
    field: "request",
    hint: expect.stringContaining("(request, context)"),
  });

  const callBack = (_request: unknown, callback: unknown) => (callback as Callback)(null, {});
  await using calledBack = await serve({ ask: unaryHandler(callBack) as Handler });
  expect(await calledBack.call().answered).toEqual([13, "callback is not a function"]);
  const { fields } = await calledBack.log.when(FAILED);
  expect(fields).toEqual({ method: ask.path, hint: misread.fields.hint });
});
