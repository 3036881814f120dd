import { createPreciseClock } from "../../src/logging/clock";

afterEach(() => jest.restoreAllMocks());

/** What the clock shows while the two clocks of the process show these. */
function shown(wall: number[], monotonic: number[]): readonly number[] {
  const clock = createPreciseClock();
  return wall.map((wallMs, index) => {
    jest.spyOn(Date, "now").mockReturnValue(wallMs);
    jest.spyOn(performance, "now").mockReturnValue(monotonic[index] ?? 0);
    return clock();
  });
}

test("it tells fractions of a millisecond, and never goes back with them", () => {
  expect(shown([1000, 1000, 1000, 1001], [10, 10.25, 10.5, 11.75])).toEqual([1000, 1000.25, 1000.5, 1001.75]);
});

test("where the system's clock is set it follows, forward and back", () => {
  expect(shown([1000, 5000, 400], [10, 10, 10])).toEqual([1000, 5000, 400]);
});
