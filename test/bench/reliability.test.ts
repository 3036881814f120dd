import { restartDelayMs } from "../../bench/reliability/container";
import { PLAYS } from "../../bench/reliability/plays";
import { table } from "../../bench/reliability/report";

test("a container is restarted at once, then after 10 s, doubled up to 5 min", () => {
  const delays = Array.from({ length: 8 }, (_, restart) => restartDelayMs(restart) / 1_000);
  expect(delays).toEqual([0, 10, 20, 40, 80, 160, 300, 300]);
});

test("no two plays have one title", () => {
  const titles = PLAYS.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
});

describe("the table", () => {
  const outcome = (registeredAfterMs: number | undefined, restarts = 0) => ({
    registeredAfterMs,
    watchedMs: 60_000,
    restarts,
  });
  const cellsOf = (outcomes: readonly ReturnType<typeof outcome>[]) =>
    table(["registrar"], [{ title: "it fails", kubelets: ["1.28.15", "1.36.3"], outcomes: [outcomes] }])
      .split("\n")
      .at(-1)
      ?.split(/ ?\| ?/)
      .slice(3, 5);

  test.each([
    ["the median and the range", [outcome(3_000), outcome(1_000), outcome(2_040)], ["2.0 (1.0 to 3.0)", "0"]],
    ["the mean of the two in the middle", [outcome(1_000), outcome(2_000)], ["1.5 (1.0 to 2.0)", "0"]],
    ["one figure where all are equal", [outcome(0), outcome(10)], ["0.0", "0"]],
    [
      "how often it came to nothing",
      [outcome(1_000), outcome(undefined)],
      ["1.0; **1 of 2 not in 60 s**", "0"],
    ],
    ["that it always came to nothing", [outcome(undefined)], ["**not in 60 s**", "0"]],
    ["the restarts", [outcome(0, 1), outcome(0, 4)], ["0.0", "1 to 4"]],
    ["nothing where nobody played", [], ["", ""]],
  ])("says %s", (_what, outcomes, cells) => {
    expect(cellsOf(outcomes)).toEqual(cells);
  });
});
