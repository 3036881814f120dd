import type { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { type Callback, type Handler, NOTHING, serveHandlers as serve } from "./served-handlers";

const coded = Object.assign(new Error("gone"), { code: 5 });
/** Calls its callback later, with an error, in a way that its length does not show. */
const failLater = (answer: unknown) => void setImmediate(answer as Callback, coded);
const declared: Handler = (_call, answer) => failLater(answer);
const arrow: Handler = (_call, answer) => setImmediate(answer, coded);
function forwarded(this: unknown, ..._none: unknown[]) {
  // biome-ignore lint/complexity/noArguments: as older code does.
  return Reflect.apply(declared, this, arguments);
}
const byArguments = function () {
  // biome-ignore lint/complexity/noArguments: as older code does.
  failLater(arguments[1]);
};
const HIDDEN: readonly (readonly [string, unknown])[] = [
  ["a wrapper", (...all: Parameters<Handler>) => declared(...all)],
  ["a wrapper of an arrow function, which returns a timer", (...all: Parameters<Handler>) => arrow(...all)],
  ["an async wrapper", async (...all: Parameters<Handler>) => declared(...all)],
  ["a function with arguments that forwards them", forwarded],
  ["a function with arguments", byArguments],
  ["a default", (_call: unknown, answer: unknown = () => {}) => failLater(answer)],
  ["defaults", (_call = { "(": /* ) */ [1, "),"] }, answer: unknown = null) => failLater(answer)],
  ["one parameter, and a rest", (_call: unknown, ...more: unknown[]) => failLater(more[0])],
  [
    "a method",
    {
      ask(...all: Parameters<Handler>) {
        return declared(...all);
      },
    }.ask,
  ],
  ["a bound wrapper", ((...all: Parameters<Handler>) => declared(...all)).bind(null)],
  ["a proxy", new Proxy((...all: Parameters<Handler>) => declared(...all), {})],
  ["a mock", jest.fn(declared)],
];
test.each(HIDDEN)(
  "a callback that a handler's length does not show is waited for: %s",
  async (_what, handle) => {
    await using served = await serve({ ask: handle as Handler });
    expect(await served.call().answered).toEqual([5, "gone"]);
    expect(served.problems()).toEqual([]);
  },
);

const one = (_call: unknown) => {};
test.each<[string, unknown]>([
  ["no parameter", () => {}],
  ["one parameter", one],
  ["an async one", async (_call: unknown) => {}],
  [
    "one that is taken apart",
    ({ request: { a = 1, b = [2] } }: { request: { a?: number; b?: object } }) => void [a, b],
  ],
  ["one with a default", (_call = [1, 2]) => {}],
  ["a comment", (_call /* , callback = (none) */ = ",") => {}],
  ["a method", { ask(_call: unknown) {} }.ask],
  ["no parentheses", runInNewContext("call => {}")],
  ["no parentheses, and a call with two values", runInNewContext("call => void Math.max(1, 2)")],
  ["no parentheses, async", runInNewContext("async call => {}")],
  ["a comma behind the last parameter", runInNewContext("(call = 1, ) => {}")],
  ["a property arguments", (call: { arguments?: unknown }) => void call.arguments],
])("undefined is the answer at once of a handler that can have no callback: %s", async (_what, handle) => {
  await using served = await serve({ ask: handle as Handler });
  expect(await served.call().answered).toEqual([0, {}]);
  expect(served.problems()).toEqual([NOTHING]);
});

/** As query builders do: each call of its `then` runs it. */
const queryOf = (run: () => void, value: unknown) => ({
  // biome-ignore lint/suspicious/noThenProperty: as query builders have it.
  then: (resolve: (value: unknown) => void) => {
    run();
    resolve(value);
  },
});

test.each<[string, (start: (end: () => void) => unknown) => Record<string, unknown>]>([
  [
    "with a callback",
    (start) => ({ ask: (_call: unknown, answer: Callback) => start(() => answer(null, { a: 1 })) }),
  ],
  [
    "with a callback in a rest",
    (start) => ({ ask: (...all: Parameters<Handler>) => start(() => all[1](null, { a: 1 })) }),
  ],
  [
    "of a stream",
    (start) => ({ list: (call: Writable) => start(() => call.end(void call.write({ a: 1 }))) }),
  ],
])("a query that a handler %s returns runs once", async (_what, handlersOf) => {
  const run = jest.fn();
  const handlers = handlersOf((end) => {
    const query = queryOf(run, undefined);
    query.then(end);
    return query;
  });
  await using served = await serve(handlers as Record<string, Handler>);
  expect(await ("ask" in handlers ? served.call().answered : served.stream("list"))).toEqual([
    0,
    "ask" in handlers ? { a: 1 } : [{ a: 1 }],
  ]);
  await turn();
  expect(run).toHaveBeenCalledTimes(1);
});

test("a query that a handler without a callback returns is its answer", async () => {
  await using served = await serve({ ask: (_call) => queryOf(() => {}, { a: 1 }) });
  expect(await served.call().answered).toEqual([0, { a: 1 }]);
});
