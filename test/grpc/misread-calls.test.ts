import { ask, type Handler, serveHandlers as serve } from "./served-handlers";

const MISREAD = "A handler reads a field of the request from its call, where it is undefined";

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
