import fs, { existsSync, lstatSync, mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { explainConnectError, tryConnect, untilAccepting } from "../../src/unix/unix-socket";
import { eachTest } from "../support/each-test";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { recordLog } from "../support/recorded-log";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

const never = new AbortController().signal;
const { logger } = recordLog();

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

describe("untilAccepting", () => {
  test("tells a server made anew from its predecessor, though the inode's number is used again", async () => {
    const path = folder.at("x.sock");
    await using _server = await startForeignSocket(path);
    const before = await untilAccepting(path, { log: logger, signal: never });
    expect(await untilAccepting(path, { log: logger, signal: never })).toBe(before);
    const { atime, mtimeMs } = lstatSync(path);
    utimesSync(path, atime, new Date(mtimeMs + 1_000));
    expect(await untilAccepting(path, { log: logger, signal: never })).not.toBe(before);
  });

  test("a server that comes in the place of the one that is dialled is not taken for that one", async () => {
    const path = folder.at("x.sock");
    await using _former = await startForeignSocket(path);
    await using _next = await startForeignSocket(folder.at("y.sock"));
    const { stat } = fs.promises;
    const replacing = jest.spyOn(fs.promises, "stat").mockImplementation((async (looked: string) => {
      const found = await stat(looked);
      if (looked === path && existsSync(folder.at("y.sock"))) renameSync(folder.at("y.sock"), path);
      return found;
    }) as never);
    const accepted = await untilAccepting(path, { log: logger, signal: never });
    replacing.mockRestore();
    expect(accepted).toBe(await untilAccepting(path, { log: logger, signal: never }));
  });

  test("notices a socket in a folder that is made later, and a living socket in a dead one's place", async () => {
    const accepting = untilAccepting(folder.at("a", "b", "x.sock"), { log: logger, signal: never });
    mkdirSync(folder.at("a"));
    mkdirSync(folder.at("a", "b"));
    await leaveDeadSocket(folder.at("a", "b", "x.sock"));
    await using _server = await startForeignSocket(folder.at("a", "b", "x.sock"));
    await accepting;
  });

  test("says that it still waits, and why", async () => {
    const log = recordLog();
    const stop = new AbortController();
    const waiting = untilAccepting(folder.at("x.sock"), {
      log: log.logger,
      signal: stop.signal,
      remindEveryMs: 20,
    });
    const record = await log.when("Still connecting", 2);
    expect(record.fields).toEqual({
      address: `unix://${folder.at("x.sock")}`,
      waited: expect.stringMatching(/^\d+s$/),
      lastError: expect.stringMatching(/^ENOENT: no such socket yet/),
    });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  });

  test.each(["before", "later"])("ends with a signal that is aborted %s, and nothing is left", (when) =>
    expectNothingLeft(async () => {
      const stop = new AbortController();
      if (when === "before") stop.abort();
      const waiting = untilAccepting(folder.at("x.sock"), { log: logger, signal: stop.signal });
      stop.abort();
      await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    }),
  );
});

test.each([
  ["EACCES", "EACCES: permission denied: not running as root, or denied by SELinux?"],
  ["EPROTOTYPE", "connect EPROTOTYPE"],
])("explains %s", (code, text) => {
  const error = Object.assign(new Error(`connect ${code}`), { code });
  expect(explainConnectError(error)).toBe(text);
});
