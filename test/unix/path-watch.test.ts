import fs, { mkdirSync, renameSync, rmSync, watch as watchFolder, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemError } from "../../src/base/errors";
import { silentLogger } from "../../src/logging/logger";
import { controlWaits } from "../support/controlled-waits";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { failLooks } from "../support/failing-looks";
import { recordLog } from "../support/recorded-log";
import { countInotifyWatches, expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

// Without its net, the poll every 5 s: everything must be noticed when it happens.
const waits = controlWaits({ fromMs: 1_000 });
const loading = import("../../src/unix/path-watch");
const startWatch = async (path: string, log = silentLogger) => (await loading).watchPath(path, log);

let witnesses = 0;

/**
 * Waits until the events of everything that was done to a folder so far have been dealt with. A process has one queue of
 * them, so a new watch also hears of what came before it: only its own file tells.
 */
async function settle(path: string): Promise<void> {
  const name = `witness-${++witnesses}`;
  const heard = new Promise<void>((resolve) => {
    const witness = watchFolder(path, (_kind, changed) => {
      if (changed !== name) return;
      witness.close();
      resolve();
    });
  });
  writeFileSync(`${path}/${name}`, "");
  await heard;
  await new Promise(setImmediate);
}

type PathWatch = Awaited<ReturnType<typeof startWatch>>;

/** Whether a hint is there, or came since this was last asked. */
const isHinted = (watch: PathWatch) => {
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  return watch.wait(stop.signal);
};
const quiet = async (watch: PathWatch, path = folder.path) => {
  await settle(path);
  // What a heard event leads to takes some turns.
  for (let isStill = false; !isStill; isStill = !(await isHinted(watch))) await delay(50);
};
const never = new AbortController().signal;

test("a watch reports when the file appears, changes and vanishes", async () => {
  using watch = await startWatch(folder.at("a.sock"));
  for (const change of [
    () => writeFileSync(folder.at("a.sock"), ""),
    () => writeFileSync(folder.at("a.sock"), "more"),
    () => renameSync(folder.at("a.sock"), folder.at("b.sock")),
    () => renameSync(folder.at("b.sock"), folder.at("a.sock")),
    () => rmSync(folder.at("a.sock")),
  ]) {
    const changed = watch.wait(never);
    change();
    await changed;
    await quiet(watch);
  }
});

test("a watch ignores other files, and looks once at fast changes", async () => {
  using watch = await startWatch(folder.at("a.sock"));
  const stat = jest.spyOn(fs.promises, "stat");
  writeFileSync(folder.at("b.sock"), "");
  await settle(folder.path);
  expect(await isHinted(watch)).toBe(false);
  expect(stat).not.toHaveBeenCalled();
  for (let round = 0; round < 1_000; round++) {
    writeFileSync(folder.at("a.sock"), "");
    rmSync(folder.at("a.sock"));
  }
  await quiet(watch);
  expect(stat.mock.calls.length).toBeLessThan(100);
  stat.mockRestore();
});

test("a watch follows the path as its directories are made", async () => {
  using watch = await startWatch(folder.at("a", "b", "c", "x.sock"));
  for (const made of [folder.at("a"), folder.at("a", "b"), folder.at("a", "b", "c")]) {
    const changed = watch.wait(never);
    mkdirSync(made);
    await changed;
    await quiet(watch, made);
  }
  const changed = watch.wait(never);
  writeFileSync(folder.at("a", "b", "c", "x.sock"), "");
  await changed;
});

test.each([
  ["removed and made anew at once", (path: string) => rmSync(path, { recursive: true })],
  ["moved away, and another in its place", (path: string) => renameSync(path, `${path}-old`)],
])("a watch reports a file in a directory that was %s", async (_how, remove) => {
  const path = folder.at("d");
  mkdirSync(path);
  using watch = await startWatch(folder.at("d", "x.sock"));
  for (let round = 0; round < 3; round++) {
    const replaced = watch.wait(never);
    remove(path);
    mkdirSync(path); // The file system may give it the old one's inode number.
    await replaced;
    await quiet(watch);
    const arrived = watch.wait(never);
    writeFileSync(folder.at("d", "x.sock"), "");
    await arrived;
    rmSync(`${path}-old`, { recursive: true, force: true });
    await quiet(watch);
  }
});

test("a watch reports a file in a directory with the number and the time of birth of the one before", async () => {
  const path = folder.at("d");
  mkdirSync(path);
  using watch = await startWatch(folder.at("d", "x.sock"));
  const [{ stat }, old] = [fs.promises, fs.statSync(path)];
  const looking = jest.spyOn(fs.promises, "stat");
  looking.mockImplementation((async (at: string) => {
    const found = await stat(at);
    return at === path ? old : found;
  }) as never);
  const replaced = watch.wait(never);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  await replaced;
  await quiet(watch, path);
  const arrived = watch.wait(never);
  writeFileSync(folder.at("d", "x.sock"), "");
  await arrived;
});

test("a path needs two inotify watches, however deep it is and however many watch it", () =>
  // Again where the kernel drops in between what watched the folder of another test.
  eventually(async () => {
    const before = countInotifyWatches();
    mkdirSync(folder.at("a", "b", "c"), { recursive: true });
    using _one = await startWatch(folder.at("a", "b", "c", "x.sock"));
    using _other = await startWatch(folder.at("a", "b", "c", "y.sock"));
    expect(countInotifyWatches() - before).toBe(2);
  }));

test("a watch that ends leaves others of its directory, then and later", async () => {
  const one = await startWatch(folder.at("a.sock"));
  for (const _turn of [1, 2]) {
    using other = await startWatch(folder.at("b.sock"));
    one.close();
    const changed = other.wait(never);
    writeFileSync(folder.at("b.sock"), "");
    await changed;
    await quiet(other);
  }
});

test("many watches of one directory are no leak to Node, keep no process, and stand an error", async () => {
  const open = jest.spyOn(fs, "watch");
  const watches = await Promise.all(["a", "b"].map((name) => startWatch(folder.at(name))));
  const NO_LIMIT = 0;
  expect(open.mock.results.map(({ value }) => value.getMaxListeners())).toEqual([NO_LIMIT, NO_LIMIT]);
  expect(open.mock.calls[0]).toEqual([folder.path, { persistent: false }]);
  expect(open.mock.results[0]?.value.emit("error", systemError("EIO"))).toBe(true);
  for (const { close } of watches) close();
});

test("close() releases everything, and ends the waits", () =>
  expectNothingLeft(async () => {
    for (const path of [folder.at("a", "x.sock"), folder.at("b", "x.sock"), "/x.sock"]) {
      const watch = await startWatch(path);
      const changed = watch.wait(never);
      watch.close();
      await changed;
    }
    expect(waits.pending()).toEqual([]);
  }));

test("a directory that another is mounted over is watched anew, unless the watch is closed meanwhile", async () => {
  const path = folder.at("d");
  mkdirSync(path);
  const watch = await startWatch(folder.at("d", "x.sock"));
  const { stat } = fs.promises;
  const open = jest.spyOn(fs, "watch");
  let later = 0;
  let held: Promise<void> | undefined;
  const looking = jest.spyOn(fs.promises, "stat").mockImplementation((async (at: string) => {
    const found = await stat(at);
    await held;
    return at === path ? Object.assign(found, { ino: found.ino + ++later }) : found;
  }) as never);
  const hinted = watch.wait(never);
  await waits.end(5_000); // No event tells of a mount.
  await hinted;
  expect(open.mock.calls.map(([at]) => at)).toContain(path);
  await quiet(watch);
  open.mockClear();
  looking.mockClear();
  let goOn = () => {};
  held = new Promise((resolve) => {
    goOn = resolve;
  });
  await waits.end(5_000);
  await eventually(() => expect(looking).toHaveBeenCalled());
  watch.close();
  goOn();
  await Promise.all(looking.mock.results.map(({ value }) => value));
  await new Promise(setImmediate);
  expect(open.mock.calls.map(([at]) => at)).not.toContain(path);
});

test("no watch is opened where the file system hangs: inotify has no asynchronous call", async () => {
  mkdirSync(folder.at("d"));
  using _hanging = failLooks(folder.at("d"), "ETIMEDOUT", "stat");
  const open = jest.spyOn(fs, "watch");
  using _watch = await startWatch(folder.at("d", "x.sock"));
  expect(open.mock.calls.map(([path]) => path)).toEqual([folder.path]);
  open.mockRestore();
});

test("exhausted inotify limits are logged once for all watches", async () => {
  const paths = ["a", "b", "c", "d"].map((name) => folder.at(name, "x.sock"));
  for (const path of paths) mkdirSync(dirname(path));
  const log = recordLog();
  const [a = "", b = "", c = "", d = ""] = paths.map((path) => dirname(path));
  const spy = jest.spyOn(fs, "watch").mockImplementation((path) => {
    throw systemError({ [b]: "ENOSPC", [c]: "EACCES", [d]: "ENOENT" }[String(path)] ?? "EMFILE");
  });
  try {
    for (const path of [...paths, ...paths]) {
      using _watch = await startWatch(path, log.logger);
    }
  } finally {
    spy.mockRestore();
  }
  const check = "fs.inotify.max_user_instances, fs.inotify.max_user_watches, ulimit -n";
  expect(log.records.filter(({ severity }) => severity === "warning")).toMatchObject([
    { message: "Cannot watch directory, polling it instead", fields: { directory: a, check } },
  ]);
  const later = log.all("Cannot watch directory either");
  expect(Object.fromEntries(later.map(({ fields }) => [fields.directory, fields.check]))).toEqual({
    ...{ [a]: check, [b]: check, [c]: undefined, [folder.path]: check },
  });
  expect(later.map(({ verbosity }) => verbosity)).toEqual(later.map(() => 2));
});

test("a watch that is kept ends when another path is wanted", async () => {
  const { createKeptWatch } = await loading;
  const kept = createKeptWatch(silentLogger);
  const first = await kept.at(folder.at("a.sock"));
  expect(await kept.at(folder.at("a.sock"))).toBe(first);
  let isOver = false;
  void first.wait(new AbortController().signal).then(() => {
    isOver = true;
  });
  await kept.at(folder.at("b", "a.sock"));
  await eventually(() => expect(isOver).toBe(true));
  kept.close();
  const again = await kept.at(folder.at("b", "a.sock"));
  expect(await again.wait(AbortSignal.timeout(1))).toBe(false);
  kept.close();
});

test("a poll watches by inotify what it could not before", async () => {
  const full = () => {
    throw systemError("EMFILE");
  };
  const open = jest.spyOn(fs, "watch").mockImplementationOnce(full).mockImplementationOnce(full);
  using watch = await startWatch(folder.at("a.sock"));
  expect(open).toHaveBeenCalledTimes(2);
  const retried = watch.wait(never);
  await waits.end(5_000);
  await retried;
  await quiet(watch);
  const arrived = watch.wait(never);
  writeFileSync(folder.at("a.sock"), "");
  await arrived;
});
