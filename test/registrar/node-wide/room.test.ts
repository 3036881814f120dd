import { recordLog } from "../../support/recorded-log";

const NEED = { atAll: 10, each: 3 };
let limit = Number.POSITIVE_INFINITY;
const DESCRIPTORS = "../../../src/unix/descriptors";
jest.doMock(DESCRIPTORS, () => ({
  ...jest.requireActual(DESCRIPTORS),
  descriptorLimit: () => limit,
  countDescriptorNeed: () => (drivers: number) => NEED.atAll + NEED.each * drivers,
}));

const [LOOK_EVERY_MS, REMIND_EVERY_MS] = [2_000, 600_000];

/** These drivers have entered a room with so many file descriptors, in this order. */
async function roomWith(descriptors: number, ...paths: readonly string[]) {
  limit = descriptors;
  const { createRoom } = await import("../../../src/registrar/node-wide/room");
  const log = recordLog();
  const room = createRoom(log.logger);
  const begun: string[] = [];
  const holds = paths.map((path) => room.enter(path));
  for (const [at, { until }] of holds.entries()) void until.then(() => begun.push(paths[at] ?? ""));
  /** The drivers that have begun after so much time. */
  const after = async (ms: number) => {
    jest.advanceTimersByTime(ms);
    await new Promise(setImmediate);
    return begun.join(" ");
  };
  return { room, log, holds, after };
}

beforeEach(() => jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] }));
afterEach(() => void jest.useRealTimers());

test("a driver that leaves while it waits does not begin, and the others do", async () => {
  const { room, log, after } = await roomWith(100, "/a", "/b");
  room.leave("/a");
  room.give();
  expect([await after(0), jest.getTimerCount(), log.records]).toEqual(["/b", 0, []]);
});

test("drivers begin in their order, as far as there are file descriptors; the others as soon as there is room", async () => {
  const { room, log, holds, after } = await roomWith(16, "/a", "/b", "/c", "/d", "/e");
  room.give();
  room.give();
  expect([await after(0), jest.getTimerCount()]).toEqual(["/a /b", 1]);
  const check =
    "give the registrar at least 25 file descriptors: ulimit -n, LimitNOFILE of the container runtime";
  expect(holds[2]?.status()).toEqual({
    identity: undefined,
    trouble: { kind: "no-descriptors", text: `it waits for file descriptors: ${check}` },
  });
  room.leave("/a");
  expect(await after(LOOK_EVERY_MS - 1)).toBe("/a /b");
  expect(await after(1)).toBe("/a /b /c");
  expect(await after(REMIND_EVERY_MS)).toBe("/a /b /c");
  limit = 100;
  expect(await after(LOOK_EVERY_MS)).toBe("/a /b /c /d /e");
  expect(jest.getTimerCount()).toBe(0);
  const fields = { limit: 16, check };
  expect(
    log.all("CSI drivers wait for file descriptors").map((line) => [line.severity, line.fields]),
  ).toEqual([
    ["warning", { ...fields, waiting: 3, drivers: 5, needed: 25 }],
    [
      "warning",
      { ...fields, waiting: 2, drivers: 4, needed: 22, check: check.replace("25", "22"), sinceLast: 301 },
    ],
  ]);
});

test("a room that is closed looks no more", async () => {
  const { room } = await roomWith(12, "/a");
  room.give();
  room.close();
  expect(jest.getTimerCount()).toBe(0);
});
