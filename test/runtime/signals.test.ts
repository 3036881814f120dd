import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { eventually } from "../support/eventually";

test("with a file call that hangs, Node is replaced by a process that ends with the exit code", async () => {
  jest.doMock("../../src/unix/file-calls", () => ({ someCallHangs: () => true }));
  const execve = jest.fn((_file: string, _args: readonly string[]): never => {
    throw new Error("nothing returns from it");
  });
  Object.assign(process, { execve });
  const { endNow } = await import("../../src/runtime/signals");
  expect(() => endNow(7)).toThrow("nothing returns from it");
  const [file = "", [, ...words] = []] = execve.mock.calls[0] ?? [];
  expect(spawnSync(file, words).status).toBe(7);
  Object.assign(process, { execve: undefined });
  const [kill, exit] = [jest.spyOn(process, "kill").mockReturnValue(true), mockExit()];
  endNow(7);
  expect([kill.mock.calls, exit.mock.calls]).toEqual([[[process.pid, "SIGKILL"]], [[7]]]);
  jest.dontMock("../../src/unix/file-calls");
  jest.resetModules();
});

const mockExit = () => jest.spyOn(process, "exit").mockReturnValue(undefined as never);

/** What listens to the signals to stop, put back by hand: a test runner listens, too. */
async function withSignals(act: (signals: typeof import("../../src/runtime/signals")) => Promise<void>) {
  const signals = await import("../../src/runtime/signals");
  const before = signals.STOP_SIGNALS.map((name) => [name, process.rawListeners(name)] as const);
  await act(signals);
  for (const [name, listeners] of before) {
    process.removeAllListeners(name);
    for (const one of listeners) process.on(name, one as () => void);
  }
}

test("a signal ends the process with its own exit code, until signals abort: then the second one does, 250 ms later", () =>
  withSignals(async ({ abortOnSignals, endOnSignals, STOP_SIGNALS }) => {
    const exit = mockExit();
    endOnSignals();
    for (const name of STOP_SIGNALS) process.emit(name);
    await eventually(() => expect(exit.mock.calls.flat()).toEqual([143, 130, 131, 129, 140]));
    exit.mockClear();

    jest.useFakeTimers({ doNotFake: ["setImmediate"] });
    const told: string[] = [];
    const aborted = abortOnSignals((name) => told.push(name));
    expect(aborted.aborted).toBe(false);
    for (const name of ["SIGHUP", "SIGTERM"] as const) process.emit(name);
    expect([aborted.aborted, told]).toEqual([true, ["SIGHUP"]]);
    jest.advanceTimersByTime(249);
    await new Promise(setImmediate);
    expect(exit).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    await new Promise(setImmediate);
    expect(exit.mock.calls).toEqual([[0]]);
    jest.useRealTimers();
  }));

test.each([
  [1, "SigBlk:\t0\nSigCgt:\t0000000000004002\n", false],
  [1, "SigCgt:\t0000000000000002\n", true],
  [1, "SigCgt:\t0000000000008000\n", true],
  [1, "SigBlk:\t0\n", false],
  [2, "SigCgt:\t0000000000000002\n", false],
])("process %i, of which the kernel says %j, has missed SIGTERM: %s", async (pid, status, missed) => {
  const own = process.pid;
  Object.defineProperty(process, "pid", { value: pid, configurable: true });
  jest.spyOn(fs, "readFileSync").mockReturnValue(status);
  const { missedSigterm } = await import("../../src/runtime/signals");
  expect(missedSigterm()).toBe(missed);
  Object.defineProperty(process, "pid", { value: own, configurable: true });
});

test("the new listener of a signal is the only one, and there is one all the time", async () => {
  const { listenOnly } = await import("../../src/runtime/signals");
  const counts: number[] = [];
  const count = () => void counts.push(process.listenerCount("SIGWINCH"));
  process.on("SIGWINCH", () => {}).once("SIGWINCH", () => {});
  process.on("removeListener", count);
  const mine = () => {};
  listenOnly("SIGWINCH", mine);
  process.off("removeListener", count);
  expect([process.listeners("SIGWINCH"), counts]).toEqual([[mine], [2, 1]]);
  process.off("SIGWINCH", mine);
});
