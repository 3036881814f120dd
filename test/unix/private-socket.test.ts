import { once } from "node:events";
import fs, { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { systemError } from "../../src/base/errors";
import { bindPrivately, randomWord, removeQuietly, stopListening } from "../../src/unix/private-socket";
import { createSocketFile } from "../../src/unix/socket-file";
import { tryConnect } from "../../src/unix/unix-socket";
import { controlWaits } from "../support/controlled-waits";
import { eachTest } from "../support/each-test";
import { failLooks } from "../support/failing-looks";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { createOwnedSocket } from "../support/owned-socket";
import { recordLog } from "../support/recorded-log";
import { createTempFolder } from "../support/temp-folder";

const folder = eachTest(createTempFolder);

const waits = controlWaits();
const loading = import("../../src/unix/private-socket");
const sweep = async (directory = folder.path) =>
  (await loading).sweepDotSockets(directory, new AbortController().signal);

test("the sweep removes only dead sockets under our dot-names", async () => {
  await leaveDeadSocket(folder.at(".reg-0a1b2"));
  await using _living = await startForeignSocket(folder.at(".reg-11111"));
  mkdirSync(folder.at(".reg-22222"));
  writeFileSync(folder.at(".reg-33333"), "precious");
  const others = [".other", ".reg-0a1b", ".reg-0a1b23", ".reg-ABCDE", "x.csi-reg.sock"];
  for (const name of others) await leaveDeadSocket(folder.at(name));
  const sweeping = sweep();
  await waits.end(10_000);
  await sweeping;
  const kept = [".reg-11111", ".reg-22222", ".reg-33333", ...others].sort();
  expect(readdirSync(folder.path).sort()).toEqual(kept);
  await sweep(folder.at("away"));
  await sweep(folder.at(".reg-33333"));
});

test("the sweep leaves a socket that is new at the second look", async () => {
  const { readdir } = fs.promises;
  await leaveDeadSocket(folder.at(".reg-0a1b2"));
  const reading = jest.spyOn(fs.promises, "readdir").mockImplementationOnce(readdir);
  reading.mockImplementationOnce(async (...of) => {
    await leaveDeadSocket(folder.at(".reg-11111"));
    return readdir(...of);
  });
  const sweeping = sweep();
  await waits.end(10_000);
  await sweeping;
  expect(readdirSync(folder.path)).toEqual([".reg-11111"]);
});

test("a connection that cannot be accepted is logged, and the listener goes on", async () => {
  const path = folder.at("x.csi-reg.sock");
  const log = recordLog();
  const one = createSocketFile(() => {}, log.logger);
  await one.publish(path, { overLiving: false, signal: new AbortController().signal });
  try {
    one.server?.emit("error", systemError("ENFILE"));
    expect(log.all("Cannot accept a connection")).toMatchObject([{ fields: { socketPath: path } }]);
    expect(await tryConnect(path)).toBeUndefined();
  } finally {
    await one.withdraw();
  }
});

test("a listener whose file system hangs, which its close would wait for, is closed when that answers", async () => {
  const path = folder.at(".reg-0a1b2");
  const bound = await bindPrivately(path, { onConnection: () => {}, onError: () => {} });
  {
    using _hanging = failLooks(path, "ETIMEDOUT");
    const later = jest.spyOn(globalThis, "setTimeout");
    await stopListening(bound);
    expect(later.mock.calls).toContainEqual([stopListening, 1_000, bound]);
    expect([bound.server.listening, bound.isHeld()]).toEqual([true, true]);
  }
  await once(bound.server, "close");
  expect(bound.isHeld()).toBe(false);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a dot-name's word is new and has its length; what cannot be removed is left", async () => {
  const words = Array.from({ length: 2_000 }, () => randomWord(5));
  expect(words.filter((word) => !/^[0-9a-z]{5}$/.test(word))).toEqual([]);
  expect(new Set(words).size).toBeGreaterThan(1_990);
  await removeQuietly("/proc/self/status");
});

test("a directory that was removed is gone, also where a mount keeps it", async () => {
  await using socket = createOwnedSocket();
  mkdirSync(folder.at("d"));
  const kept = openSync(folder.at("d"), "r"); // Its path leads there still, as a mount's does.
  expect(await socket.hasDirectory()).toBe(false);
  await socket.publish(`/proc/self/fd/${kept}/x.csi-reg.sock`);
  expect(await socket.hasDirectory()).toBe(true);
  rmSync(folder.at("d"), { recursive: true });
  expect(await socket.hasDirectory()).toBe(false);
  await socket.withdraw();
  closeSync(kept);
  mkdirSync(folder.at("e"));
  await socket.publish(folder.at("e", "x.csi-reg.sock"));
  renameSync(folder.at("e"), folder.at("f"));
  expect(await socket.hasDirectory()).toBe(false);
  mkdirSync(folder.at("e"));
  expect(await socket.hasDirectory()).toBe(false);
});

test("a socket that another process removes at the same moment is withdrawn", async () => {
  await using socket = createOwnedSocket();
  await socket.publish(folder.at("x.csi-reg.sock"));
  const unlink = jest.spyOn(fs, "unlinkSync").mockImplementationOnce((path) => {
    rmSync(path);
    throw systemError("ENOENT");
  });
  await socket.withdraw();
  expect(unlink).toHaveBeenCalledTimes(1);
  expect(socket.path).toBeUndefined();
  unlink.mockRestore();
});
