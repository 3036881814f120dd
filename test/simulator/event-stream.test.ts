import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { createEventLog } from "../../src/simulator/event-stream";

type Event = { readonly atMs: number } & (
  | { readonly kind: "tick"; readonly count: number }
  | { readonly kind: "tock"; readonly why?: { readonly kind: string }; readonly path?: string }
);
const KINDS = { tick: true, tock: true } as const;
const failure = (code: string, text: string) => ({ code, message: expect.stringContaining(text) });
afterEach(() => void jest.useRealTimers());
const makeLog = () => createEventLog<Event>("the clock", KINDS);

test("when() takes past events, or only future ones, or the one that fits", async () => {
  const log = makeLog();
  log.append({ kind: "tick", count: 1 });
  const next = log.stream.when("tick", { from: "now" });
  await expect(log.stream.when("tick")).resolves.toMatchObject({ count: 1, atMs: expect.any(Number) });
  const third = log.stream.when("tick", { where: ({ count }) => count === 3 });
  log.append({ kind: "tock" });
  for (const count of [2, 3, 4]) log.append({ kind: "tick", count });
  await expect(next).resolves.toMatchObject({ count: 2 });
  await expect(third).resolves.toMatchObject({ count: 3 });
});

test("what a listener throws is an uncaught error, which ends the test that runs, and others are told", () => {
  const queued = jest.spyOn(globalThis, "queueMicrotask").mockImplementation(() => {});
  const [log, heard] = [makeLog(), jest.fn()];
  log.stream.subscribe(throwing);
  log.stream.subscribe(heard);
  log.append({ kind: "tock" });
  expect(queued.mock.calls[0]?.[0]).toThrow("a typo in the test");
  expect(heard).toHaveBeenCalledTimes(1);
  queued.mockRestore();
});

test("a wait rejects when its caller gives up, or when the part is closed", async () => {
  const log = makeLog();
  const caller = new AbortController();
  const givenUp = log.stream.when("tock", { signal: caller.signal });
  const inVain = log.stream.when("tock");
  caller.abort();
  await expect(givenUp).rejects.toMatchObject(failure("ABORTED", "gave up"));
  log.end();
  await expect(inVain).rejects.toMatchObject(failure("ABORTED", "the clock was closed"));
  await expect(log.stream.when("tock")).rejects.toMatchObject({ code: "ABORTED" });
});

test("a wait for an unknown kind is refused", async () => {
  const wait = makeLog().stream.when("tik" as "tick");
  await expect(wait).rejects.toMatchObject(failure("INVALID_OPTION", "when"));
});

test.each([
  [{ timoutMs: 5 }, 'when: there is no option "timoutMs"; did you mean timeoutMs?'],
  [{ timeoutMs: 0 }, "when: timeoutMs is 0; it takes milliseconds"],
  [{ where: "x" }, 'when: where is "x"; it takes a function'],
  [{ from: "end" }, 'when: from is "end"; it takes one of "start", "now"'],
  [{ timeoutMs: 2 ** 31 }, "when: timeoutMs is 2147483648; it takes milliseconds"],
])("a wait with %j is refused", async (options, message) => {
  const wait = makeLog().stream.when("tick", options as never);
  await expect(wait).rejects.toMatchObject(failure("INVALID_OPTION", message));
});

const throwing = () => {
  throw new Error("a typo in the test");
};

test.each([
  ["throws: the wait rejects with that", throwing, { message: "a typo in the test" }],
  [
    "gives a promise, which would fit everything: refused",
    async () => false,
    failure("INVALID_OPTION", "where returned a promise"),
  ],
])("a `where` that %s", async (_what, given, error) => {
  const log = makeLog();
  const where = given as () => boolean;
  const waiting = log.stream.when("tick", { where });
  log.append({ kind: "tick", count: 1 });
  await expect(waiting).rejects.toMatchObject(error);
  await expect(log.stream.when("tick", { where })).rejects.toMatchObject(error);
});

test("history() keeps the newest 1,000 events", () => {
  const log = makeLog();
  for (let count = 0; count < 1001; count++) log.append({ kind: "tick", count });
  const history = log.stream.history();
  expect(history).toHaveLength(1000);
  expect(history[0]).toMatchObject({ count: 1 });
  expect([log.stream.history("tick").length, log.stream.history("tock")]).toEqual([1000, []]);
});

test("a wait rejects at its limit with the latest events, escaped", async () => {
  const log = createEventLog<Event>("the clock", KINDS, 1);
  await expect(log.stream.when("tick")).rejects.toMatchObject({
    code: "TIMEOUT",
    message: '"tick" of the clock did not happen: it did not come within 1 ms; nothing was seen',
  });
  for (let count = 0; count < 7; count++) log.append({ kind: "tick", count });
  log.append({ kind: "tock", why: { kind: "overdue" }, path: "/a\u202eb" });
  log.append({ kind: "tick", count: 8 });
  const message = /did not come within 2 ms; seen: … (?:tick, ){6}tock overdue \/a\\u202eb, tick$/;
  await expect(log.stream.when("tock", { from: "now", timeoutMs: 2 })).rejects.toThrow(message);
});

test("a wait under fake timers rejects too, and says which timers to leave real", async () => {
  jest.useFakeTimers();
  const text = "did not come within 1 ms, with fake timers: gRPC needs the real process.nextTick and";
  const wait = makeLog().stream.when("tick", { timeoutMs: 1 });
  await expect(wait).rejects.toMatchObject(failure("TIMEOUT", text));
});

test("the error of a wait has the waiting line in its stack", async () => {
  const thisTestWaits = () => makeLog().stream.when("tick", { timeoutMs: 1 });
  const error = await thisTestWaits().catch((error: Error) => error);
  expect(error).toMatchObject({ code: "TIMEOUT", stack: expect.stringContaining("thisTestWaits") });
  expect(Object.keys(Object.getOwnPropertyDescriptors(error))).not.toContain("cause");
});

describe("in a process that does nothing else", () => {
  const ROOT = resolve(__dirname, "../..");
  /** Runs this with a log; resolves to what it wrote to both outputs, and whether it failed. */
  const play = (script: string) =>
    new Promise<{ failed: boolean; stdout: string; stderr: string }>((done) => {
      const making = `const log = require("./src/simulator/event-stream.ts").createEventLog("x", { tick: true });`;
      const flags = ["--require", "./scripts/typescript.cjs", "-e", `${making}\n${script}`];
      execFile(process.execPath, flags, { cwd: ROOT }, (error, stdout, stderr) =>
        done({ failed: error !== null, stdout, stderr }),
      );
    });

  test("a wait that was fulfilled, or given up, leaves no timer", async () => {
    const { stdout, stderr } = await play(`
      const caller = new AbortController();
      const waits = [log.stream.when("tick"), log.stream.when("tick", { from: "now", signal: caller.signal, where: () => false })];
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
      const before = timers();
      log.append({ kind: "tick" });
      caller.abort();
      Promise.allSettled(waits).then((ends) => console.log(before, ...ends.map(({ status }) => status), timers()));
    `);
    expect([stdout, stderr]).toEqual(["2 fulfilled rejected 0\n", ""]);
  });

  test("a wait that nobody awaits is an unhandled rejection at its limit, and none if it is given up", async () => {
    const late = await play(`log.stream.when("tick", { timeoutMs: 1 });`);
    expect(late).toEqual({ failed: true, stdout: "", stderr: expect.stringContaining("within 1 ms") });
    const given = await play(
      `log.stream.when("tick", { signal: AbortSignal.abort() }); log.stream.when("tick"); log.end();`,
    );
    expect(given).toEqual({ failed: false, stdout: "", stderr: "" });
  });
});
