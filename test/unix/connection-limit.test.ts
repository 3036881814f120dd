import { EventEmitter } from "node:events";
import fs from "node:fs";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemError } from "../../src/base/errors";
import { type ConnectionLimitOptions, createConnectionLimit } from "../../src/unix/connection-limit";
import { recordLog } from "../support/recorded-log";

const SETTLE_MS = 250;

interface Guest {
  readonly name: number;
  readonly socket: Socket;
  isBusy: boolean;
}

beforeEach(() => jest.useFakeTimers({ doNotFake: ["setImmediate"] }));
afterEach(() => jest.useRealTimers());

/** A crowd of two, and of guests that are no sockets but end like them. */
function openHouse(options: Partial<ConnectionLimitOptions<Guest>> = {}) {
  const log = recordLog();
  const crowd = createConnectionLimit<Guest>({
    max: 2,
    settleMs: SETTLE_MS,
    evictionOrder: { idle: ({ isBusy }) => !isBusy },
    messages: { crowd: "Too many", shortage: "Short" },
    log: log.logger,
    ...options,
  });
  let count = 0;
  const come = (many = 1) => {
    for (let left = many; left > 0; left--) {
      const socket = Object.assign(new EventEmitter(), { destroy: () => socket.emit("close") });
      crowd.admit({ name: ++count, socket: socket as unknown as Socket, isBusy: false });
    }
  };
  const inside = () => Array.from(crowd.members, ({ name }) => name);
  const told = () => log.records.map(({ message, fields }) => ({ message, ...fields }));
  return { crowd, come, inside, told };
}

/** Two turns of the event loop. */
const listenedToOnce = async () => {
  for (let turn = 0; turn < 2; turn++) await nextTurn();
};

test("a connection above the limit stays for its time, then the oldest is closed", async () => {
  const { come, inside, told } = openHouse();
  come(3);
  await listenedToOnce();
  jest.advanceTimersByTime(SETTLE_MS - 1);
  expect(inside()).toEqual([1, 2, 3]);
  jest.advanceTimersByTime(1);
  expect(inside()).toEqual([2, 3]);
  expect(told()).toEqual([{ message: "Too many", limit: 2, closed: "idle" }]);
  expect(jest.getTimerCount()).toBe(0);
});

test("no connection is closed once enough have ended", async () => {
  const { crowd, come, inside } = openHouse();
  come(3);
  await listenedToOnce();
  for (const { name, socket } of [...crowd.members]) if (name === 2) socket.destroy();
  jest.advanceTimersByTime(10 * SETTLE_MS);
  expect(inside()).toEqual([1, 3]);
  expect(jest.getTimerCount()).toBe(0);
});

test("a connection of a later class is not closed because those of an earlier one are young", async () => {
  const { crowd, come, inside } = openHouse();
  come(2);
  for (const guest of crowd.members) guest.isBusy = true;
  jest.advanceTimersByTime(SETTLE_MS);
  come(2);
  await listenedToOnce();
  expect(inside()).toEqual([1, 2, 3, 4]);
  jest.advanceTimersByTime(SETTLE_MS);
  expect(inside()).toEqual([2, 4]);
});

test("more than twice the limit never stay, and the newest one does", async () => {
  const { come, inside } = openHouse();
  come(9);
  await listenedToOnce();
  expect(inside()).toEqual([6, 7, 8, 9]);
  jest.advanceTimersByTime(SETTLE_MS);
  expect(inside()).toEqual([8, 9]);
});

test("a listener keeps four while descriptors run short", () => {
  const { crowd, come, inside, told } = openHouse({ max: 10 });
  jest.spyOn(fs, "openSync").mockImplementation(() => {
    throw systemError("EMFILE");
  });
  come(4);
  expect(inside()).toEqual([1, 2, 3, 4]);
  come();
  expect(inside()).toEqual([2, 3, 4, 5]);
  const err = "EMFILE: all file descriptors of this process are in use";
  const check = expect.stringMatching(/^who holds connections .* ulimit -n/);
  expect(told()).toEqual([{ message: "Short", err, closed: "idle", check }]);
  crowd.closeAll();
  expect(inside()).toEqual([]);
});
