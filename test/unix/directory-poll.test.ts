import fs, { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { controlWaits } from "../support/controlled-waits";
import { eachTest } from "../support/each-test";
import { mayMount, mountHanging } from "../support/hanging-mount";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const waits = controlWaits();
const clock = { nowMs: 0 };
const PAUSE = "../../src/base/pause";
jest.doMock(PAUSE, () => ({ ...jest.requireActual(PAUSE), monotonicMs: () => clock.nowMs }));
const loading = import("../../src/unix/directory-poll");

const POLL_EVERY_MS = 5_000;
const folder = eachTest(createTempFolder);
beforeEach(async () => {
  mkdirSync(folder.at("d"));
  age(folder.at("d"));
});

/** Hides a change from the mtime. */
const age = (path: string) => utimesSync(path, 1, 1);

/** Polls a directory; `poll` answers whether the next poll sees a change. */
async function startPolling(path = folder.at("d")) {
  const { pollDirectory } = await loading;
  let changes = 0;
  const end = pollDirectory(path, () => {
    throw new Error(`ends no poll, and not the process: ${++changes}`);
  });
  const poll = async () => {
    const before = changes;
    await waits.end(POLL_EVERY_MS);
    await new Promise(setImmediate);
    return changes > before;
  };
  return { poll, [Symbol.dispose]: end };
}

test.each<[string, (path: string) => void]>([
  ["a new entry", (path) => writeFileSync(`${path}/x`, "")],
  ["its removal", (path) => rmSync(path, { recursive: true })],
  [
    "another directory in its place",
    (path) => {
      renameSync(path, `${path}-old`);
      mkdirSync(path);
      age(path);
    },
  ],
  [
    "another directory with its times",
    (path) => {
      const look = fs.lstatSync;
      jest.spyOn(fs, "lstatSync").mockImplementation(((at: string) => {
        const seen = look(at);
        return at === path ? Object.assign(seen, { ino: seen.ino + 1 }) : seen;
      }) as typeof look);
    },
  ],
])("the poll finds %s without an event", async (_what, change) => {
  using polling = await startPolling();
  for (const isCalled of [true, true, false]) expect(await polling.poll()).toBe(isCalled);
  change(folder.at("d"));
  expect(await polling.poll()).toBe(true);
});

test("sees a directory that comes later, and calls once more for what its mtime cannot tell", async () => {
  using polling = await startPolling(folder.at("later", "d"));
  for (const isCalled of [true, true, false]) expect(await polling.poll()).toBe(isCalled);
  mkdirSync(folder.at("later", "d"), { recursive: true });
  for (const isCalled of [true, true, false, false]) expect(await polling.poll()).toBe(isCalled);
});

test("calls at each poll for a directory behind a symbolic link, which the caller must look at", async () => {
  symlinkSync(folder.at("d"), folder.at("link"));
  using polling = await startPolling(folder.at("link"));
  for (let round = 0; round < 3; round++) expect(await polling.poll()).toBe(true);
});

(mayMount() ? test : test.skip)("does not touch a file system that hangs, nor a link to it", async () => {
  mkdirSync(folder.at("hangs"));
  using polling = await startPolling(folder.at("d", "below"));
  using other = await startPolling(folder.at("hangs", "below"));
  // The table of mounts that other calls keep for 10 ms does not become old.
  const clock = jest.spyOn(performance, "now").mockReturnValue(performance.now());
  using _mount = mountHanging(folder.at("hangs"));
  rmSync(folder.at("d"), { recursive: true });
  symlinkSync(folder.at("hangs"), folder.at("d"));
  // A call on it would never return.
  expect(await polling.poll()).toBe(true);
  expect(await other.poll()).toBe(true);
  clock.mockRestore();
});

test("does not touch what has become a mount that can hang since the last poll", async () => {
  using polling = await startPolling();
  await polling.poll();
  const read = fs.readFileSync as (...given: unknown[]) => unknown;
  jest.spyOn(fs, "readFileSync").mockImplementation(((...given: unknown[]) => {
    const text = read(...given);
    return given[0] === "/proc/self/mountinfo" ? `${text}9 1 0:9 / ${folder.at("d")} rw - nfs x rw\n` : text;
  }) as never);
  const look = jest.spyOn(fs, "lstatSync");
  expect(await polling.poll()).toBe(true);
  expect(look.mock.calls.map(([path]) => path)).not.toContain(folder.at("d"));
});

test("touches nothing when it begins, and reads the mounts at each poll, once for all directories", async () => {
  const [look, read] = [jest.spyOn(fs, "lstatSync"), jest.spyOn(fs, "readFileSync")];
  using polling = await startPolling();
  using _other = await startPolling(folder.path);
  // A mount that hangs may have come since the caller looked.
  expect([look.mock.calls, read.mock.calls]).toEqual([[], []]);
  await polling.poll();
  expect(read).toHaveBeenCalledTimes(1);
});

test("one timer serves every directory, and ends with the last one", () =>
  expectNothingLeft(async () => {
    {
      using _one = await startPolling();
      using _other = await startPolling(folder.path);
      expect(waits.pending()).toEqual([POLL_EVERY_MS]);
    }
    await new Promise(setImmediate);
    expect(waits.pending()).toEqual([]);
  }));

test("a standstill of 10 s is known at once, and until 5 s after the next poll", async () => {
  const { hasStoodStill } = await loading;
  const stoodStillAt = (nowMs: number) => {
    clock.nowMs = nowMs;
    return hasStoodStill();
  };
  {
    using polling = await startPolling();
    expect(stoodStillAt(9_999)).toBe(false);
    await polling.poll();
    expect([19_998, 19_999].map(stoodStillAt)).toEqual([false, true]);
    await polling.poll();
    expect([24_998, 24_999].map(stoodStillAt)).toEqual([true, false]);
  }
  expect(stoodStillAt(60_000)).toBe(false);
  using _polling = await startPolling();
  expect(stoodStillAt(69_999)).toBe(false);
});
