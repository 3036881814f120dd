import { createPreciseClock } from "../../src/logging/clock";

test("it tells fractions of a millisecond, and never goes back with them", () => {
  const monotonic = [10, 10.25, 10.5, 11.75];
  const wall = [1000, 1000, 1000, 1001];
  const clock = createPreciseClock(
    () => wall.shift() ?? 0,
    () => monotonic.shift() ?? 0,
  );
  expect([clock(), clock(), clock(), clock()]).toEqual([1000, 1000.25, 1000.5, 1001.75]);
});

test("where the system's clock is set it follows, forward and back", () => {
  const wall = [1000, 5000, 400];
  const clock = createPreciseClock(
    () => wall.shift() ?? 0,
    () => 10,
  );
  expect([clock(), clock(), clock()]).toEqual([1000, 5000, 400]);
});
