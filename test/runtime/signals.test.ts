import { spawnSync } from "node:child_process";
import fs from "node:fs";

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
});

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
