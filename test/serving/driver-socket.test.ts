import fs, { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { systemError } from "../../src/base/errors";
import { tryConnect } from "../../src/unix/unix-socket";
import { controlWaits } from "../support/controlled-waits";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { failLooks } from "../support/failing-looks";
import { startForeignSocket } from "../support/foreign-socket";
import { identityOf } from "../support/identity-of";
import { createOwnedSocket } from "../support/owned-socket";
import { recordLog } from "../support/recorded-log";
import { expectNothingLeft } from "../support/resources";
import { createTempFolder } from "../support/temp-folder";

const waits = controlWaits();
const loading = import("../../src/serving/driver-socket");
const folder = eachTest(createTempFolder);
let path: string;
beforeEach(() => {
  mkdirSync(folder.at("csi"));
  path = folder.at("csi", "csi.sock");
});

const AGAIN = "The driver's socket was gone, listening again";
const keep = async () => {
  const log = recordLog();
  const { keepListening } = await loading;
  return { log, socket: await keepListening(path, (connection) => connection.destroy(), log.logger) };
};

test("a removed socket is put back without a rest of the old one, and removed at the end", () =>
  expectNothingLeft(async () => {
    const { log, socket } = await keep();
    expect(readdirSync(folder.at("csi"))).toEqual(["csi.sock"]);
    unlinkSync(path);
    await log.when(AGAIN);
    expect(log.records).toMatchObject([{ severity: "warning", fields: { csiAddress: path } }]);
    expect(readdirSync(folder.at("csi"))).toEqual(["csi.sock"]);
    expect(await tryConnect(path)).toBeUndefined();
    await socket.withdraw();
    expect(existsSync(path)).toBe(false);
  }));

test("a failure to listen again is a warning, and ours follows once its directory is back", async () => {
  const { log, socket } = await keep();
  rmSync(folder.at("csi"), { recursive: true });
  const { severity, fields } = await log.when("Cannot listen on the driver's socket again");
  const err = expect.objectContaining({ code: "SOCKET_UNUSABLE" });
  expect([severity, fields]).toEqual(["warning", { err, csiAddress: path }]);
  mkdirSync(folder.at("csi"));
  await log.when(AGAIN);
  expect(await tryConnect(path)).toBeUndefined();
  await socket.withdraw();
});

test("a publication that is under way at withdraw() leaves no socket", () =>
  expectNothingLeft(async () => {
    const { socket } = await keep();
    const { lstat } = fs.promises;
    const isBound = () => readdirSync(folder.at("csi")).some((name) => name.startsWith("."));
    let goOn = () => {};
    const isHeld = new Promise<void>((resolve) => {
      jest.spyOn(fs.promises, "lstat").mockImplementation((async (at: string) => {
        if (at === path && isBound()) {
          const going = new Promise<void>((go) => (goOn = go));
          resolve();
          await going;
        }
        return lstat(at);
      }) as never);
    });
    unlinkSync(path);
    await isHeld; // The look right before ours gets its name.
    const withdrawn = socket.withdraw();
    goOn();
    await withdrawn;
    expect(readdirSync(folder.at("csi"))).toEqual([]);
  }));

test("a socket that cannot be removed is an error in the log, and accepts no more", async () => {
  const { log, socket } = await keep();
  const looks = jest.spyOn(fs, "lstatSync").mockImplementation(() => {
    throw systemError("EIO");
  });
  await socket.withdraw();
  looks.mockRestore();
  expect(log.records).toMatchObject([
    {
      ...{ severity: "error", message: "Cannot remove the driver's socket" },
      ...{ error: { code: "EIO" }, fields: { csiAddress: path } },
    },
  ]);
  expect(await tryConnect(path)).toBeDefined();
});

test.each(["EIO", "EACCES", "ETIMEDOUT"])(
  "looks that fail with %s do not replace our living socket",
  async (code) => {
    const { log, socket } = await keep();
    const before = identityOf(path);
    {
      using looks = failLooks(path, code);
      chmodSync(path, 0o700); // A hint.
      await eventually(() => expect(looks.failed()).toBeGreaterThan(1));
    }
    await log.when("Cannot look at socket, it counts as unchanged");
    chmodSync(path, 0o700);
    expect(identityOf(path)).toBe(before);
    unlinkSync(path);
    await log.when(AGAIN);
    expect(log.all(AGAIN)).toHaveLength(1);
    await socket.withdraw();
  },
);

const ANOTHER = "Another driver listens on the driver's socket, waiting until it ends";

test("ours follows another driver that was killed: its file stays, so no event tells; every 10 min it is a warning", async () => {
  const now = performance.now.bind(performance);
  const { log, socket } = await keep();
  await using other = await startForeignSocket(path);
  await log.when(ANOTHER);
  for (const [laterMs, told] of [
    [0, 1],
    [590_000, 1],
    [600_000, 2],
  ] as const) {
    // The poll of its directory, and the next look.
    await eventually(() => expect(waits.pending()).toEqual([5_000, 5_000]));
    jest.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
    for (const _wait of waits.pending()) await waits.end(5_000);
    await eventually(() => expect(waits.pending()).toEqual([5_000, 5_000]));
    expect(log.all(ANOTHER)).toHaveLength(told);
  }
  expect(log.all(ANOTHER)).toMatchObject([{ severity: "warning", fields: { csiAddress: path } }, {}]);
  await other.kill();
  await eventually(async () => {
    await waits.end(5_000);
    expect(log.all(AGAIN)).toHaveLength(1);
  });
  expect(await tryConnect(path)).toBeUndefined();
  await socket.withdraw();
});

test("another driver's living socket is left alone, and ours follows when it ends", async () => {
  const { log, socket } = await keep();
  await using other = createOwnedSocket();
  await other.publish(path, { overLiving: true });
  await log.when(ANOTHER);
  expect(await other.look(path)).toBe("ours");
  await other.withdraw();
  await log.when(AGAIN);
  expect(await tryConnect(path)).toBeUndefined();
  await other.publish(path, { overLiving: true });
  await socket.withdraw();
  expect(await other.look(path)).toBe("ours");
});
