import { mkdirSync, writeFileSync } from "node:fs";
import { explainConnectError, tryConnect } from "../../src/unix/unix-socket";
import { eachTest } from "../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

test.each<[string, (path: string) => unknown, string | undefined]>([
  ["a living socket", startForeignSocket, undefined],
  ["nothing", () => {}, "ENOENT"],
  ["a dead socket", leaveDeadSocket, "ECONNREFUSED"],
  ["a regular file", (path) => writeFileSync(path, ""), "ENOTSOCK"],
  ["a directory", (path) => mkdirSync(path), "ENOTSOCK"],
])("what is wrong with %s", async (_what, make, code) => {
  const made = await make(folder.at("x.sock"));
  expect((await tryConnect(folder.at("x.sock"))) as { code?: string } | undefined).toEqual(
    code && expect.objectContaining({ code }),
  );
  await (made as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.();
});

test.each([
  ["EACCES", "EACCES: permission denied: not running as root, or denied by SELinux?"],
  ["EPROTOTYPE", "connect EPROTOTYPE"],
])("explains %s", (code, text) => {
  const error = Object.assign(new Error(`connect ${code}`), { code });
  expect(explainConnectError(error)).toBe(text);
});
