import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { controlWaits } from "../support/controlled-waits";
import { eachTest } from "../support/each-test";
import { mayMount, mountHanging } from "../support/hanging-mount";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const waits = controlWaits();
const loading = import("../../src/unix/resting-look");

const LOOK_EVERY_MS = 5_000;
const folder = eachTest(createTempFolder);
beforeEach(async () => {
  mkdirSync(folder.at("d"));
  age(folder.at("d"));
});

/** Hides a change from the mtime. */
const age = (path: string) => utimesSync(path, 1, 1);

/** Looks at a directory; `look` answers whether the next look sees a change. */
async function startLooking(path = folder.at("d")) {
  const { lookAtRest } = await loading;
  let changes = 0;
  const end = lookAtRest(path, () => {
    throw new Error(`ends no look, and not the process: ${++changes}`);
  });
  const look = async () => {
    const before = changes;
    await waits.end(LOOK_EVERY_MS);
    await new Promise(setImmediate);
    return changes > before;
  };
  return { look, [Symbol.dispose]: end };
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
])("sees %s without an event", async (_what, change) => {
  using looking = await startLooking();
  expect(await looking.look()).toBe(true);
  expect(await looking.look()).toBe(false);
  change(folder.at("d"));
  expect(await looking.look()).toBe(true);
});

test("sees a directory that comes later, and calls once more for what its mtime cannot tell", async () => {
  using looking = await startLooking(folder.at("later", "d"));
  for (const isCalled of [true, false]) expect(await looking.look()).toBe(isCalled);
  mkdirSync(folder.at("later", "d"), { recursive: true });
  for (const isCalled of [true, true, false, false]) expect(await looking.look()).toBe(isCalled);
});

test("leaves the look behind a symbolic link to the caller, each time", async () => {
  symlinkSync(folder.at("d"), folder.at("link"));
  using looking = await startLooking(folder.at("link"));
  for (let round = 0; round < 3; round++) expect(await looking.look()).toBe(true);
});

(mayMount() ? test : test.skip)("does not touch a file system that hangs, nor a link to it", async () => {
  mkdirSync(folder.at("hangs"));
  using looking = await startLooking(folder.at("d", "below"));
  using other = await startLooking(folder.at("hangs", "below"));
  using _mount = mountHanging(folder.at("hangs"));
  rmSync(folder.at("d"), { recursive: true });
  symlinkSync(folder.at("hangs"), folder.at("d"));
  // A call on it would never return.
  expect(await looking.look()).toBe(true);
  expect(await other.look()).toBe(true);
});

test("one timer serves every directory, and none is left at the end", () =>
  expectNothingLeft(async () => {
    {
      using _one = await startLooking();
      using _other = await startLooking(folder.path);
      expect(waits.pending()).toEqual([LOOK_EVERY_MS]);
    }
    await new Promise(setImmediate);
    expect(waits.pending()).toEqual([]);
  }));
