import { createEvents } from "../../src/registrar/events";

test("tells every listener, in the order in which they came", () => {
  const events = createEvents<number>();
  const heard: string[] = [];
  events.subscribe((event) => heard.push(`a${event}`));
  events.subscribe((event) => heard.push(`b${event}`));
  events.emit(1);
  expect(heard).toEqual(["a1", "b1"]);
});

test("tells nobody who left, even during the telling", () => {
  const events = createEvents<number>();
  const heard: number[] = [];
  const leave = events.subscribe((event) => {
    heard.push(event);
    leave();
  });
  events.emit(1);
  events.emit(2);
  expect(heard).toEqual([1]);
});

test("who comes during the telling hears from the next on", () => {
  const events = createEvents<number>();
  const heard: number[] = [];
  const leave = events.subscribe(() => {
    leave();
    events.subscribe((event) => heard.push(event));
  });
  events.emit(1);
  events.emit(2);
  expect(heard).toEqual([2]);
});

test("a listener that throws keeps no other from hearing, and its error is not lost", () => {
  const later: (() => void)[] = [];
  const queue = jest.spyOn(globalThis, "queueMicrotask").mockImplementation((act) => later.push(act));
  const events = createEvents<number>();
  const heard: number[] = [];
  events.subscribe(() => {
    throw new Error("a listener's bug");
  });
  events.subscribe((event) => heard.push(event));
  events.emit(1);
  queue.mockRestore();
  expect(heard).toEqual([1]);
  expect(later).toHaveLength(1);
  expect(later[0]).toThrow("a listener's bug");
});
