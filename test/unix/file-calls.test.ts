import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { buildSync } from "esbuild";
import { callFileSystem, someCallHangs, untilCallsSettle } from "../../src/unix/file-calls";
import type { Mount } from "../../src/unix/mounts";
import { spawnProcess } from "../support/child-process";
import { eachTest } from "../support/each-test";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

/** A call that does not end before the function returned. */
function startHanging(path: string, callAt = callFileSystem) {
  const stop = new AbortController();
  const ended = once(stop.signal, "abort");
  return { call: callAt(path, async () => void (await ended)), end: () => stop.abort() };
}

const answered = (path: string) => callFileSystem(path, async () => "answered");

test("gives up a call that hangs, and asks no more at or below its path until it ends", async () => {
  const path = folder.at("evil");
  const { call, end } = startHanging(path);
  await expect(call).rejects.toMatchObject({ code: "ETIMEDOUT", message: expect.stringContaining(path) });
  expect(someCallHangs()).toBe(true);
  await expect(answered(`${path}/csi.sock`)).rejects.toMatchObject({ code: "ETIMEDOUT" });
  expect(await answered(`${path}-other`)).toBe("answered");
  expect(await answered(dirname(path))).toBe("answered");
  end();
  await new Promise(setImmediate);
  expect(someCallHangs()).toBe(false);
  expect(await answered(`${path}/csi.sock`)).toBe("answered");
});

test("the process' end waits for a call until it ends or is given up", async () => {
  const [quick, hanging] = [startHanging(folder.at("quick")), startHanging(folder.at("evil"))];
  const order: string[] = [];
  const settled = untilCallsSettle().then(() => order.push("settled"));
  quick.end();
  await quick.call;
  order.push("quick");
  await hanging.call.catch(() => order.push("given up"));
  await settled;
  expect(order).toEqual(["quick", "given up", "settled"]);
  hanging.end();
  await untilCallsSettle();
});

test("a call that finds no free thread is given up, and is not made later", async () => {
  const [one, other] = [startHanging(folder.at("one")), startHanging(folder.at("other"))];
  const third = jest.fn(async () => "answered");
  const calls = [one.call, other.call, callFileSystem(folder.at("third"), third)];
  for (const { status } of await Promise.allSettled(calls)) expect(status).toBe("rejected");
  one.end();
  await new Promise(setImmediate);
  expect(third).not.toHaveBeenCalled();
  expect(await callFileSystem(folder.at("third"), third)).toBe("answered");
  other.end();
  await new Promise(setImmediate);
  const atOnce = ["a", "b", "c"].map((name) => answered(folder.at(name)));
  expect(await Promise.all(atOnce)).toEqual(Array(3).fill("answered")); // None hangs: the last one waits for a thread.
});

const fakeTimers = () =>
  jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask", "performance"] });
afterEach(() => void jest.useRealTimers());

async function loadWithFakeTimers() {
  fakeTimers();
  jest.doMock("node:timers", () => ({ ...jest.requireActual("node:timers"), setTimeout, clearTimeout }));
  jest.resetModules();
  return import("../../src/unix/file-calls");
}

test("a call that waits for a thread is not made where one at its path hangs meanwhile", async () => {
  const { callFileSystem } = await loadWithFakeTimers();
  const one = startHanging(folder.at("evil"), callFileSystem);
  await new Promise(setImmediate);
  jest.advanceTimersByTime(1_000);
  const other = startHanging(folder.at("other"), callFileSystem);
  const below = jest.fn(async () => "answered");
  const waiting = callFileSystem(folder.at("evil", "x"), below);
  await new Promise(setImmediate);
  jest.advanceTimersByTime(1_000);
  other.end();
  for (const call of [one.call, waiting]) await expect(call).rejects.toMatchObject({ code: "ETIMEDOUT" });
  expect(below).not.toHaveBeenCalled();
  one.end();
});

test("a call's time begins when it finds a free thread", async () => {
  const { callFileSystem, someCallHangs } = await loadWithFakeTimers();
  const [one, other] = [
    startHanging(folder.at("one"), callFileSystem),
    startHanging(folder.at("other"), callFileSystem),
  ];
  const third = startHanging(folder.at("third"), callFileSystem);
  other.call.catch(() => {});
  await new Promise(setImmediate); // The first two begin.
  jest.advanceTimersByTime(1_900);
  one.end();
  await one.call;
  jest.advanceTimersByTime(99);
  expect(someCallHangs()).toBe(false);
  jest.advanceTimersByTime(1);
  expect(someCallHangs()).toBe(true);
  jest.advanceTimersByTime(1_800);
  await new Promise(setImmediate);
  third.end();
  await expect(third.call).resolves.toBeUndefined();
  other.end();
});

test("fake timers that are installed later end no call", async () => {
  fakeTimers();
  const { call, end } = startHanging(folder.at("slow"));
  jest.advanceTimersByTime(60_000);
  await new Promise(setImmediate);
  expect(someCallHangs()).toBe(false);
  end();
  await expect(call).resolves.toBeUndefined();
});

/** File calls of a process that reads these tables of mounts, one after the other, and the last one from then on. */
async function loadWithMounts(...tables: readonly (readonly Mount[] | undefined)[]) {
  const left = [...tables];
  jest.resetModules();
  jest.doMock("../../src/unix/mounts", () => ({
    ...jest.requireActual("../../src/unix/mounts"),
    readMounts: () => (left.length > 1 ? left.shift() : left[0]),
  }));
  return import("../../src/unix/file-calls");
}
const nfsHere = (): Mount[] => [{ device: "0:1", mountPoint: folder.path, root: "/", fileSystem: "nfs4" }];

test("without a readable mount table at the start, calls are made", async () => {
  const { callFileSystem, mountAt } = await loadWithMounts(undefined, nfsHere());
  expect(mountAt(folder.path)).toBeUndefined();
  await delay(20); // The table is read again.
  expect(await callFileSystem(folder.path, async () => "answered")).toBe("answered");
});

test("where the mount table cannot be read any more, the last one counts", async () => {
  let nowMs = 0;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const { mountAt } = await loadWithMounts([], nfsHere(), undefined);
  const seen = [1_000, 2_000, 3_000].map((ms) => {
    nowMs = ms;
    return mountAt(folder.path)?.fileSystem;
  });
  expect(seen).toEqual([undefined, "nfs4", "nfs4"]);
});

test("gives its own error to a call that fails", async () => {
  await expect(callFileSystem(folder.path, () => Promise.reject(new Error("EIO")))).rejects.toThrow("EIO");
});

test("time in which the process is stopped does not count", async () => {
  const fifo = folder.at("fifo"); // To open it for reading ends when another process opens it for writing.
  execFileSync("mkfifo", [fifo]);
  const entryPoints = [join(__dirname, "..", "..", "src", "unix", "file-calls.ts")];
  const [bundle] = buildSync({ entryPoints, bundle: true, platform: "node", write: false }).outputFiles;
  const script = `${bundle?.text}
    const end = (said) => (console.log(said), process.exit());
    const opened = module.exports.callFileSystem("${fifo}", () => require("fs").promises.open("${fifo}"));
    opened.then(() => end("opened"), ({ code }) => end(code));
    setInterval(() => console.log("awake"), 50);`;
  await using child = spawnProcess(process.execPath, ["--eval", script]);
  await child.stdout.waitFor((line) => line === "awake");
  child.signal("SIGSTOP");
  await delay(2_500);
  const before = child.stdout.all().length;
  child.signal("SIGCONT");
  await child.stdout.waitFor(() => true, before + 1); // Its file call would be given up between the two.
  closeSync(openSync(fifo, constants.O_RDWR));
  await child.exited;
  expect(child.stdout.all().at(-1)).toBe("opened");
});
