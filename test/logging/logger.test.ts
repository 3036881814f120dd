import { pino } from "pino";
import { invalidOption } from "../../src/base/errors";
import { createLogger, type Logger, type LogRecord, silentLogger, UNHEARD } from "../../src/logging/logger";
import { isLoggerOption, type LoggerOption, resolveLogger } from "../../src/logging/logger-option";
import { recordLog } from "../support/recorded-log";

test("a pino logger gets fields first, err for its serialiser, and verbosities as levels", () => {
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

test("a console logger gets messages without klog's verbose lines", () => {
  const prints = (["info", "warn", "error"] as const).map((level) =>
    jest.spyOn(console, level).mockReturnValue(),
  );
  const log = resolveLogger(console);
  const broken = new Error("broken");
  log.v(2).info("names", { a: 1 });
  log.v(4).info("details");
  log.warn("careful");
  log.error(broken, "failed");
  expect(prints.map(({ mock }) => mock.calls)).toEqual([
    [["names", { a: 1 }]],
    [["careful", {}]],
    [["failed", { err: broken }]],
  ]);
  expect(isLoggerOption(console)).toBe(true);
});

test("a winston logger gets errors as text, because its JSON of an Error is {}", () => {
  const calls: unknown[][] = [];
  const say = (...args: unknown[]) => void calls.push(args);
  const log = resolveLogger({ child: () => {}, info: say, warn: say, error: say, debug: say } as never);
  log.with({ driver: "x.csi" }).info("plain");
  log.error(new Error("broken", { cause: new Error("no room") }), "failed", { attempt: 2 });
  const err = expect.stringMatching(/^Error: broken\n {4}at [\s\S]*\[cause\]: Error: no room\n {6}at /);
  expect(calls).toEqual([
    ["plain", { driver: "x.csi" }],
    ["failed", { err, attempt: 2 }],
  ]);
});

test("a pino logger that is never asked for its level gets every line", () => {
  const calls: unknown[][] = [];
  const sayAt =
    (level: string) =>
    (...given: unknown[]) =>
      void calls.push([level, ...given]);
  const levels = Object.fromEntries(
    ["info", "warn", "error", "debug", "trace"].map((one) => [one, sayAt(one)]),
  );
  const log = resolveLogger({ ...levels, child: () => {} } as never);
  for (const verbosity of [2, 3, 4, 5]) log.v(verbosity).info(`v${verbosity}`, { a: 1 });
  expect(calls.map(([level, fields, message]) => [level, message, fields])).toEqual([
    ["info", "v2", { a: 1 }],
    ["debug", "v3", { a: 1 }],
    ["debug", "v4", { a: 1 }],
    ["trace", "v5", { a: 1 }],
  ]);
});

test("a logger of the caller's own form gets each line with its file, place, verbosity and fields", () => {
  const log = recordLog(3);
  const own = (to: Logger): Logger => ({
    ...{ info: to.info, warn: to.warn, error: to.error, enabled: to.enabled },
    ...{ v: (wanted) => own(to.v(wanted)), named: (file) => own(to.named(file)) },
    ...{ at: (line) => own(to.at(line)), with: (fields) => own(to.with(fields)) },
  });
  const resolved = resolveLogger(own(log.logger)).named("x").with({ driver: "d" });
  const broken = new Error("broken");
  resolved.v(3).at(7).info("plain", { a: 1 });
  resolved.v(4).info("too verbose");
  resolved.at(8).warn("careful");
  resolved.at(9).error(broken, "failed", { a: 2 });
  expect([resolved.v(3).enabled(), resolved.v(4).enabled()]).toEqual([true, false]);
  const from = (line: number) => ({ file: "x", line, error: undefined });
  const fields = { driver: "d" };
  expect(log.records).toEqual([
    { ...from(7), severity: "info", verbosity: 3, message: "plain", fields: { ...fields, a: 1 } },
    { ...from(8), severity: "warning", verbosity: 0, message: "careful", fields },
    {
      ...from(9),
      severity: "error",
      verbosity: 0,
      message: "failed",
      error: broken,
      fields: { ...fields, a: 2 },
    },
  ]);
});

test("without a logger, news that reaches a caller in no other way is a warning of the process, once each", () => {
  const emit = jest.spyOn(process, "emitWarning").mockReturnValue();
  const log = resolveLogger(undefined).named("x");
  const broken = Object.assign(new Error("broken"), { stack: "its stack" });
  for (const method of ["GetInfo", "GetInfo", "Probe"])
    log.warn("It throws", { ...UNHEARD, method, path: "/a\nb" });
  for (const event of ["get-info", "get-info"]) log.error(broken, "It throws", { ...UNHEARD, event });
  log.error(invalidOption("no"), "It is refused", UNHEARD);
  log.error({ code: 5 }, "It rejects", UNHEARD);
  log.info("It is an info line", UNHEARD);
  log.warn("A caller hears of it elsewhere");
  const type = "RegistrarWarning";
  expect(emit.mock.calls).toEqual([
    ["It throws; method: GetInfo; path: /a\\nb", { type }],
    ["It throws; method: Probe; path: /a\\nb", { type }],
    ["It throws; broken; event: get-info", { type, detail: "its stack" }],
    ["It is refused; no", { type }],
    ["It rejects; { code: 5 }", { type }],
  ]);
});

test("an error of a caller's logger stops nothing", async () => {
  const fail = (): never => {
    throw new Error("disk full");
  };
  const rejects = async () => fail();
  const again = () => own;
  const failing = { info: fail, warn: fail, error: fail };
  const own: Logger = { ...failing, enabled: fail, v: again, named: again, with: again, at: again };
  const loggers: LoggerOption[] = [
    own,
    failing,
    { ...failing, child: fail, trace: fail, debug: fail, isLevelEnabled: fail },
    createLogger({ enabled: fail, write: fail }),
    { info: rejects, warn: rejects, error: rejects },
    { info: rejects, warn: rejects, error: rejects, debug: rejects, trace: rejects, child: () => {} },
    createLogger({ enabled: () => true, write: async () => fail() }),
  ];
  for (const given of loggers) {
    const log = resolveLogger(given).named("x").with({ a: 1 }).at(7);
    log.info("plain");
    log.v(3).warn("careful");
    log.error(new Error("broken"), "failed");
    // The console decides by the verbosity alone.
    expect(log.enabled()).toBe(given === failing || loggers.indexOf(given) > 3);
  }
  expect(silentLogger.enabled()).toBe(false);
  await new Promise(setImmediate); // A rejection that nobody handled would fail the test by now.
});

test("createLogger's logger is used as it is, undefined logs nothing, and other values are refused", () => {
  const records: LogRecord[] = [];
  const ours = createLogger({ enabled: () => true, write: (record) => void records.push(record) });
  expect(resolveLogger(ours)).toBe(ours);
  expect(resolveLogger(undefined).enabled()).toBe(false);
  expect([{}, { info: () => {} }, null, "console"].map(isLoggerOption)).toEqual([false, false, false, false]);
});

test("createLogger refuses an invalid sink", () => {
  const message = expect.stringMatching(/^createLogger: the sink has no function (?:enabled|write)$/);
  for (const sink of [undefined, () => {}, { write: () => {} }, { enabled: () => true, write: true }])
    expect(() => createLogger(sink as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message }),
    );
});
