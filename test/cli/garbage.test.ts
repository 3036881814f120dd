import { collectWhenQuiet } from "../../src/cli/garbage";
import { createEvents } from "../../src/registrar/events";
import type { Registrations } from "../../src/registrar/registrations";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const changeTo = (to: string) => ({ kind: "state-changed", change: { to } });

test("garbage is collected once nothing was registered for 10 s, and again after the next registration", () => {
  const events = createEvents<object>();
  const collect = jest.fn();
  collectWhenQuiet({ subscribe: events.subscribe } as unknown as Registrations, collect);
  const passed = (seconds: number) => jest.advanceTimersByTime(seconds * 1_000);

  passed(9);
  events.emit(changeTo("registered"));
  passed(9);
  expect(collect).not.toHaveBeenCalled();
  passed(1);
  expect(collect).toHaveBeenCalledTimes(1);

  events.emit(changeTo("refused"));
  passed(60);
  expect(collect).toHaveBeenCalledTimes(1);
  events.emit(changeTo("registered"));
  passed(60);
  expect(collect).toHaveBeenCalledTimes(2);
});

test("a collection can be had in any Node", () => {
  const subscribe = () => () => {};
  collectWhenQuiet({ subscribe } as unknown as Registrations);
  expect(() => jest.advanceTimersByTime(10_000)).not.toThrow();
});
