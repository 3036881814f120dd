import { pino } from "pino";
import { createLogger, type LogRecord } from "../../src/logging/logger";
import { isLoggerOption, resolveLogger } from "../../src/logging/logger-option";

test("pino as it is: fields first, err as its serialiser knows it, klog's verbosities as its levels", () => {
  const lines: Record<string, unknown>[] = [];
  const theirs = pino(
    { level: "debug", base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const log = resolveLogger(theirs).named("x").with({ driver: "x.csi" });
  log.info("plain");
  log.v(2).info("names");
  log.v(4).info("details");
  log.v(5).info("calls: too much for this level");
  log.warn("careful", { path: "/x" });
  log.error(new Error("broken"), "failed");
  expect([log.v(4).enabled(), log.v(5).enabled()]).toEqual([true, false]);
  expect(lines).toEqual([
    { level: 30, driver: "x.csi", msg: "plain" },
    { level: 30, driver: "x.csi", msg: "names" },
    { level: 20, driver: "x.csi", msg: "details" },
    { level: 40, driver: "x.csi", path: "/x", msg: "careful" },
    { level: 50, driver: "x.csi", msg: "failed", err: expect.objectContaining({ message: "broken" }) },
  ]);
});

test("console as it is, without klog's chatter", () => {
  const calls: unknown[][] = [];
  const say =
    (level: string) =>
    (...args: unknown[]) =>
      void calls.push([level, ...args]);
  const log = resolveLogger({ info: say("info"), warn: say("warn"), error: say("error") });
  const broken = new Error("broken");
  log.v(2).info("names", { a: 1 });
  log.v(4).info("details");
  log.warn("careful");
  log.error(broken, "failed");
  expect(calls).toEqual([
    ["info", "names", { a: 1 }],
    ["warn", "careful", {}],
    ["error", "failed", { err: broken }],
  ]);
  expect(isLoggerOption(console)).toBe(true);
});

test("a logger of createLogger stays itself; without one nothing is logged; what cannot log is none", () => {
  const records: LogRecord[] = [];
  const ours = createLogger({ enabled: () => true, write: (record) => void records.push(record) });
  expect(resolveLogger(ours)).toBe(ours);
  expect(resolveLogger(undefined).enabled()).toBe(false);
  expect([{}, { info: () => {} }, null, "console"].map(isLoggerOption)).toEqual([false, false, false, false]);
});
