import { spawnSync } from "node:child_process";

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
