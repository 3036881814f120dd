import { getEventListeners } from "node:events";
import { createEventSource } from "../../src/base/event-source";

type Event = { readonly kind: "tick"; readonly count: number } | { readonly kind: "tock" };
const KINDS = { tick: true, tock: true } as const;
const tick = (count: number): Event => ({ kind: "tick", count });
const tock: Event = { kind: "tock" };
const neverFails = (error: unknown) => {
  throw error;
};

test("a listener gets the events, or one kind, from its subscription to its end", () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  const heard: string[] = [];
  source.emit(tock);
  const stop = source.subscribe(({ kind }) => heard.push(`all: ${kind}`));
  const stopTicks = source.subscribe("tick", ({ count }) => heard.push(`ticks: ${count}`));
  source.emit(tick(1));
  source.emit(tock);
  stop();
  source.emit(tick(2));
  stopTicks();
  source.emit(tick(3));
  expect(heard).toEqual(["all: tick", "ticks: 1", "all: tock", "ticks: 2"]);
});

const { signal: aSignal } = new AbortController();
const hear = () => {};

test("what subscribe and iterate are given wrongly is refused at the call, and what they take is not", () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  const subscriptions = [
    ...[[], ["tick"], ["tick", "tock"], [["tick"], hear], [hear, "tick"], [undefined, hear], [5, hear]],
    ...[
      ["tik", hear],
      ["constructor", hear],
      ["tick", hear, aSignal],
      ["tick", hear, { sygnal: aSignal }],
    ],
    ...[
      [hear, { once: true }],
      [hear, { signal: {} }],
      [hear, { signal: { aborted: false } }],
      [hear, null],
    ],
    ...[
      [hear],
      ["tick", hear],
      [hear, {}],
      [hear, { signal: undefined }],
      ["tick", hear, { signal: aSignal }],
    ],
  ];
  const iterations = [
    ...[[["tick"]], [["tick", "tock"], {}], ["tik"], ["tick", "x"], [5, "tick"], ["tick", 5], [aSignal]],
    ...[
      ["tick", { sygnal: aSignal }],
      ["tick", { signal: new EventTarget() }],
      [{ signal: aSignal }, "tick"],
    ],
    ...[[], ["tick"], ["tick", "tock"], [{}], [undefined], ["tick", { signal: aSignal }]],
  ];
  const shown = (_name: string, one: unknown) =>
    one instanceof AbortSignal ? "<signal>" : typeof one === "function" ? "<function>" : (one ?? String(one));
  const outcomeOf = (name: "subscribe" | "iterate") => (given: readonly unknown[]) => {
    const call = `${name}(${given.map((one) => JSON.stringify(one, shown)).join(", ")})`;
    const act = source[name] as (...given: readonly unknown[]) => unknown;
    try {
      return `${call} returns ${typeof act(...given)}`;
    } catch (error) {
      return `${call}: ${error}`;
    }
  };
  const outcomes = [...subscriptions.map(outcomeOf("subscribe")), ...iterations.map(outcomeOf("iterate"))];
  expect(["", ...outcomes, ""].join("\n")).toMatchSnapshot();
  expect(() => source.readKind(["tick"], "when")).toThrow(
    "when takes one kind of events, as a text, not a list; there are tick, tock",
  );
});

test("an iteration yields the events since its beginning, and ends with the source", async () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  source.emit(tick(0));
  const all = source[Symbol.asyncIterator]();
  const ticks = source.iterate("tick");
  source.emit(tick(1));
  source.emit(tock);
  const counts: number[] = [];
  const counting = (async () => {
    for await (const { count } of ticks) counts.push(count);
  })();
  source.emit(tick(2));
  source.end();
  await counting;
  expect(counts).toEqual([1, 2]);
  const kinds: string[] = [];
  for (let next = await all.next(); !next.done; next = await all.next()) kinds.push(next.value.kind);
  expect(kinds).toEqual(["tick", "tock", "tick"]);
  const late = source.iterate("tick");
  source.emit(tick(3)); // Whoever emits may be behind the one that ended it.
  expect(await late.next()).toEqual({ done: true, value: undefined });
});

test("a loop that is left gets no more events; one that falls behind loses the oldest", async () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  const iteration = source.iterate("tick");
  for (let count = 0; count < 1001; count++) source.emit(tick(count));
  for await (const { count } of iteration) {
    expect(count).toBe(1);
    break;
  }
  source.emit(tick(5));
  expect(await iteration.next()).toEqual({ done: true, value: undefined });
});

test("a listener's error is reported, and the other listeners get the event", async () => {
  const told: unknown[] = [];
  const source = createEventSource<Event>(KINDS, (error, { kind }) => told.push([String(error), kind]));
  const heard: string[] = [];
  source.subscribe(() => {
    throw new Error("thrown");
  });
  source.subscribe("tock", async () => {
    throw new Error("rejected");
  });
  const stop = source.subscribe(() => stopped());
  const stopped = source.subscribe(() => heard.push("a listener that was ended by the one before it"));
  source.subscribe(({ kind }) => heard.push(kind));
  source.emit(tick(1));
  stop();
  source.emit(tock);
  await new Promise(setImmediate);
  expect(told).toEqual([
    ["Error: thrown", "tick"],
    ["Error: thrown", "tock"],
    ["Error: rejected", "tock"],
  ]);
  expect(heard).toEqual(["tick", "tock"]);
});

test("two concurrent next() calls of one iteration each get an event", async () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  const ticks = source.iterate("tick");
  const both = Promise.all([ticks.next(), ticks.next()]);
  source.emit(tick(1));
  source.emit(tick(2));
  expect((await both).map(({ value }) => value)).toEqual([tick(1), tick(2)]);
});

test("a source that has ended leaves nothing on a signal", async () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  const { signal } = new AbortController();
  const join = () => [source.subscribe(() => {}, { signal }), source.iterate({ signal })];
  join();
  expect(getEventListeners(signal, "abort")).toHaveLength(2);
  source.end();
  join();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a signal ends a subscription and a loop; an aborted one starts none", async () => {
  const source = createEventSource<Event>(KINDS, neverFails);
  const stop = new AbortController();
  const { signal } = stop;
  const heard: number[] = [];
  source.subscribe("tick", ({ count }) => heard.push(count), { signal });
  const ticks = source.iterate("tick", { signal });
  source.emit(tick(1));
  stop.abort();
  source.emit(tick(2));
  source.subscribe("tick", ({ count }) => heard.push(count), { signal });
  source.emit(tick(3));
  expect([heard, await ticks.next(), await ticks.next()]).toEqual([
    [1],
    { done: false, value: tick(1) },
    { done: true, value: undefined },
  ]);
  expect(await source.iterate({ signal }).next()).toMatchObject({ done: true });
});
