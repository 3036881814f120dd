import { createEventSource } from "../src/event-source";

type Event = { readonly kind: "tick"; readonly count: number } | { readonly kind: "tock" };
const tick = (count: number): Event => ({ kind: "tick", count });
const tock: Event = { kind: "tock" };

test("a listener hears what comes from now on, or one kind of it, until it ends that", () => {
  const source = createEventSource<Event>();
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

test("an iteration has what came from its beginning on, and ends with the source", async () => {
  const source = createEventSource<Event>();
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
  for await (const event of source) expect(event).toBe("none comes after the end");
});

test("who leaves the loop hears no more; who falls behind misses the oldest", async () => {
  const source = createEventSource<Event>();
  const iteration = source.iterate("tick");
  for (let count = 0; count < 1001; count++) source.emit(tick(count));
  for await (const { count } of iteration) {
    expect(count).toBe(1);
    break;
  }
  source.emit(tick(5));
  expect(await iteration.next()).toEqual({ done: true, value: undefined });
});
