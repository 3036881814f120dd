import { createLogger, type LogRecord } from "../../src/logging/logger";
import { createPacedWarning, limitRepeats } from "../../src/logging/repeats";

function setUp() {
  const records: LogRecord[] = [];
  const clock = { nowMs: 0 };
  jest.spyOn(performance, "now").mockImplementation(() => clock.nowMs);
  const sink = limitRepeats({
    enabled: (verbosity) => verbosity <= 1,
    write: (record) => records.push(record),
  });
  const lines = () =>
    records.splice(0).map(({ message, fields }) => [message, fields.repeated].filter(Boolean).join(" "));
  return { log: createLogger(sink), clock, lines, records };
}

test("equal warnings are written once, then once a minute with the number left out", () => {
  const { log, clock, lines } = setUp();
  for (const nowMs of [0, 1, 59_999, 60_000, 60_001, 300_000, 300_001, 360_000, 420_000]) {
    clock.nowMs = nowMs;
    log.warn("away");
  }
  expect(lines()).toEqual(["away", "away 2", "away 1", "away 1", "away"]);
});

test("lines that differ in severity, file, line, message, error or fields are all written", () => {
  const { log, lines } = setUp();
  log.warn("away");
  log.error(undefined, "away");
  log.error(new Error("ENOENT"), "away");
  log.error(new Error("EACCES"), "away");
  log.warn("away", { path: "/a" });
  log.warn("away", { path: "/b" });
  log.at(7).warn("away");
  log.named("other").warn("away");
  log.warn("back");
  expect(lines()).toHaveLength(9);
});

test("info lines are not suppressed", () => {
  const { log, lines } = setUp();
  log.info("seen");
  log.info("seen");
  log.v(2).info("unwanted");
  expect(lines()).toEqual(["seen", "seen"]);
});

test("only the 64 lines seen last are remembered", () => {
  const { log, lines } = setUp();
  const warn = (n: number) => log.warn("away", { n });
  for (let n = 0; n < 64; n += 1) warn(n);
  warn(0);
  warn(64);
  expect(lines()).toHaveLength(65);
  warn(0);
  expect(lines()).toEqual([]);
  warn(1);
  expect(lines()).toEqual(["away"]);
});

test("a paced warning is written at once, then once a minute with the number that it stands for", () => {
  const { log, clock, records } = setUp();
  const warn = createPacedWarning(log, "It happened");
  for (const nowMs of [0, 1, 59_999, 60_000, 60_001, 120_000, 720_000]) {
    clock.nowMs = nowMs;
    warn({ nowMs });
  }
  expect(records).toMatchObject(Array(4).fill({ severity: "warning", message: "It happened" }));
  expect(records.map(({ fields }) => fields)).toEqual([
    { nowMs: 0 },
    { nowMs: 60_000, sinceLast: 3 },
    { nowMs: 120_000, sinceLast: 2 },
    { nowMs: 720_000 },
  ]);
});
