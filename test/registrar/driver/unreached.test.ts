import { createUnreached } from "../../../src/registrar/driver/unreached";
import type { ResolvedRegistrarOptions } from "../../../src/registrar/model/options";
import { recordLog } from "../../support/recorded-log";

let nowMs = 0;
beforeEach(() => {
  nowMs = 500;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
});

function unreached(isNodeWide = false) {
  const log = recordLog();
  const one = createUnreached({ isNodeWide } as ResolvedRegistrarOptions, log.logger);
  const lines = () =>
    log.records.map(({ severity, fields }) => `${severity} ${fields.waited} ${fields.lastError}`);
  /** The waits after so many attempts, each when the one before is over. */
  const waits = (attempts: number) =>
    Array.from({ length: attempts }, () => {
      const ms = one.because(new Error("no"));
      nowMs += ms;
      return ms;
    });
  return { ...one, waits, lines };
}

test("each wait is twice as long, 5 s at most, and ends when a line is due; a hint makes them short again", () => {
  const { waits, hinted, lines } = unreached();
  expect(waits(14)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 1_809]);
  hinted();
  expect(waits(3)).toEqual([1, 2, 4]);
  expect(lines()).toEqual(["info 10s no"]);
});

test.each([
  [
    false,
    3_600,
    [
      "info 10s no",
      "info 20s no",
      "warning 30s no",
      "warning 40s no",
      "warning 50s no",
      "warning 60s no",
      "warning 120s no",
    ],
  ],
  [true, 3_600, ["info 600s no", "info 1200s no", "info 1800s no"]],
])("node-wide %s, the lines of %d s", (isNodeWide, seconds, first) => {
  const { waits, lines } = unreached(isNodeWide);
  while (nowMs < seconds * 1_000) waits(1);
  expect(lines().slice(0, first.length)).toEqual(first);
});

test("after a connection the time and the waits begin anew", () => {
  const { why, waits, end, lines } = unreached();
  waits(14);
  waits(1);
  expect(why()).toEqual(new Error("no"));
  end();
  expect(why()).toBeUndefined();
  nowMs += 60_000;
  expect(waits(3)).toEqual([1, 2, 4]);
  waits(12);
  expect(lines()).toEqual(["info 10s no", "info 10s no"]);
});
