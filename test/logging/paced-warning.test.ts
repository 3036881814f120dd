import { createLogger, type LogRecord } from "../../src/logging/logger";
import { createPacedWarning } from "../../src/logging/paced-warning";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test("the first at once, then one a minute that counts those it stands for", () => {
  const records: LogRecord[] = [];
  const log = createLogger({ enabled: () => false, write: (record) => records.push(record) });
  const warn = createPacedWarning(log, "It happened");
  const written = () => records.splice(0).map(({ severity, message, fields }) => [severity, message, fields]);

  warn({ reason: "a" });
  expect(written()).toEqual([["warning", "It happened", { reason: "a" }]]);
  warn({ reason: "b" });
  jest.advanceTimersByTime(59_999);
  warn({ reason: "c" });
  expect(written()).toEqual([]);
  jest.advanceTimersByTime(1);
  warn({ reason: "d" });
  expect(written()).toEqual([["warning", "It happened", { reason: "d", sinceLast: 3 }]]);
  warn({ reason: "e" });
  expect(written()).toEqual([]);
  jest.advanceTimersByTime(60_000);
  warn({ reason: "f" });
  expect(written()).toEqual([["warning", "It happened", { reason: "f", sinceLast: 2 }]]);
  jest.advanceTimersByTime(600_000);
  warn({ reason: "g" });
  expect(written()).toEqual([["warning", "It happened", { reason: "g" }]]);
  expect(jest.getTimerCount()).toBe(0);
});
