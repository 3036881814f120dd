import { status } from "@grpc/grpc-js";
import { REMINDERS } from "../../../src/base/backoff";
import { LONGEST_WAIT_MS } from "../../../src/base/pause";
import { controlWaits } from "../../support/controlled-waits";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { startScriptedDriver } from "../../support/scripted-driver";
import { createTempFolder } from "../../support/temp-folder";
import { watchAt } from "../../support/watched-driver";

const FIRST_MS = 100;
const LONGEST_MS = 10_000;
/** A connection that lived so long was no early loss. */
const STEADY_AFTER_MS = 10_000;
/** Connecting longer is a warning. */
const WARN_AFTER_MS = 30_000;
const waits = controlWaits({ fromMs: FIRST_MS / 2 });
const UNARY = "../../../src/grpc/client/unary";
const { createUnixClient, ...unary } =
  jest.requireActual<typeof import("../../../src/grpc/client/unary")>(UNARY);
const newClient = jest.fn();
jest.doMock(UNARY, () => ({ ...unary, createUnixClient: newClient }));
const loading = import("../../../src/registrar/driver/driver");
const x = { name: "x.csi" };

/** Without the look at all directories of the process, and without waits for an event. */
const pauses = () => waits.pending().filter((ms) => ms !== 5_000 && ms < LONGEST_WAIT_MS);

const folder = eachTest(createTempFolder);
const socketPath = () => folder.at("csi.sock");
afterEach(() => jest.restoreAllMocks());

async function startWatching(options = {}) {
  const watch = watchAt(socketPath(), options, { create: (await loading).createDriver });
  const answers = () => watch.answered.length;
  return {
    ...watch,
    answers,
    /** Waits for an answer, ending what is held meanwhile: on a busy machine also a wait until the driver listens again. */
    untilAnsweredAtOnce: (times: number) =>
      eventually(async () => {
        const [held] = pauses();
        if (held !== undefined) await endWait(held);
        expect(answers()).toBe(times);
      }),
    /** Resolves with the waits that are held, or with none when the driver has answered this often before. */
    heldBeforeAnswer: (times: number) =>
      eventually(() => {
        const held = pauses();
        expect(held.length > 0 || answers() >= times).toBe(true);
        return held;
      }),
  };
}

const now = performance.now.bind(performance);
let passedMs = 0;
beforeEach(() => {
  passedMs = 0;
  newClient.mockReset().mockImplementation(createUnixClient);
  jest.spyOn(performance, "now").mockImplementation(() => now() + passedMs);
});

/** As if so much time had passed. */
function pass(ms: number): void {
  passedMs += ms;
}

/** Ends a wait, as if its time had passed. */
async function endWait(ms: number): Promise<void> {
  pass(ms);
  await waits.end(ms);
}

test("a driver whose connections do not last is reconnected to at a growing distance", async () => {
  await using watch = await startWatching();
  let driver = await startScriptedDriver(socketPath(), x);
  await watch.untilAnswered(1);
  for (let time = 0; time < 12; time++) {
    const lostAtMs = performance.now();
    await driver.kill();
    driver = await startScriptedDriver(socketPath(), x);
    const most = Math.min(FIRST_MS * 2 ** time, LONGEST_MS);
    // The driver is back at once; what has passed since its loss is not waited again, and a short wait may be over.
    await eventually(() => {
      const sinceMs = performance.now() - lostAtMs;
      const isHeld = waits.pending().some((one) => one <= most && one >= most * 0.8 - sinceMs);
      if (!isHeld && watch.answers() === time + 1) throw new Error(`no wait of ${most} ms is held`);
    });
    await watch.untilAnsweredAtOnce(time + 2);
    expect(watch.answered.at(-1)?.awayMs).toBeGreaterThanOrEqual(Math.floor(most * 0.8));
  }
  await driver.kill();
});

test("a driver that restarts again before it has answered is lost once", async () => {
  pass(1_000_000);
  await using watch = await startWatching();
  await using first = await startScriptedDriver(socketPath(), x);
  await watch.untilAnswered(1);
  pass(20_000);
  await first.kill();
  // On a busy machine it may be asked before it is gone, too.
  await using second = await startScriptedDriver(socketPath(), "hang");
  const { lasted } = (await watch.log.when("Lost connection")).fields;
  expect(Number.parseFloat(String(lasted))).toBeCloseTo(20, -1);
  await second.kill();
  await using driver = await startScriptedDriver(socketPath(), x);
  await watch.untilAnsweredAtOnce(2);
  // What answered is the server that is there: the end of one connection of its own is no loss.
  driver.endConnections();
  await watch.untilAnsweredAtOnce(3);
  const away = watch.answered.map(({ awayMs }) => awayMs);
  expect(away).toEqual([undefined, expect.any(Number), undefined]);
  expect(watch.losses()).toBe(1);
});

test("a driver that ended connections early, and then kept one, is reconnected to at once", async () => {
  await using driver = await startScriptedDriver(socketPath(), x);
  await using watch = await startWatching();
  await watch.untilAnswered(1);
  const last = 7;
  for (let times = 2; times <= last; times++) {
    if (times === last) pass(0.7 * STEADY_AFTER_MS); // Too short.
    driver.endConnections();
    if (times === last) expect(await watch.heldBeforeAnswer(last)).not.toEqual([]);
    await watch.untilAnsweredAtOnce(times);
  }
  pass(STEADY_AFTER_MS);
  driver.endConnections();
  expect(await watch.heldBeforeAnswer(last + 1)).toEqual([]);
  await watch.untilAnsweredAtOnce(last + 1);
  driver.endConnections(); // Early again: the first time.
  expect(Math.max(0, ...(await watch.heldBeforeAnswer(last + 2)))).toBeLessThanOrEqual(FIRST_MS);
});

test.each([
  [false, REMINDERS.connect],
  [true, REMINDERS.connectNodeWide],
])(
  "the log says that the registrar still waits, and why, at last as a warning; node-wide %s",
  async (isNodeWide, { pacesMs: [paceMs] }) => {
    await using watch = await startWatching({ isNodeWide });
    const lines = () => watch.log.all("Still connecting").map(({ fields }) => fields);
    const stepMs = paceMs / 2;
    await eventually(async () => {
      // A wait of 5 s may be that of all directories, which ends the others.
      for (const ms of waits.pending().filter((one) => one < LONGEST_WAIT_MS)) {
        pass(stepMs);
        await waits.end(ms);
      }
      expect(lines().length).toBeGreaterThan(3);
    });
    for (const { severity, fields } of watch.log.all("Still connecting")) {
      const isLong = Number.parseInt(String(fields.waited), 10) * 1_000 >= WARN_AFTER_MS;
      expect([fields.waited, severity]).toEqual([fields.waited, isLong && !isNodeWide ? "warning" : "info"]);
    }
    const [first, second] = lines().map(({ waited }) => Number.parseInt(String(waited), 10) * 1_000);
    for (const [waitedMs, due] of [
      [first, paceMs],
      [second, 2 * paceMs],
    ] as const) {
      expect(waitedMs).toBeGreaterThanOrEqual(due);
      expect(waitedMs).toBeLessThan(due + 4 * stepMs);
    }
    expect(lines()[0]).toEqual({
      address: `unix://${socketPath()}`,
      waited: expect.stringMatching(/^\d+s$/),
      lastError: expect.stringMatching(/^ENOENT: no such socket yet/),
    });
    // After a connection the time begins anew.
    const driver = await startScriptedDriver(socketPath(), x);
    await watch.untilAnsweredAtOnce(1);
    const before = lines().length;
    await driver.stop();
    await watch.log.when("Lost connection");
    pass(paceMs);
    await eventually(async () => {
      for (const ms of waits.pending()) if (ms < LONGEST_WAIT_MS) await waits.end(ms);
      expect(lines().length).toBeGreaterThan(before);
    });
    expect(Number.parseInt(String(lines()[before]?.waited), 10) * 1_000).toBeLessThan(2 * paceMs);
  },
);

test("a driver that was long not ready, and then answered, is asked again soon after a new failure", async () => {
  const notReady = { code: status.UNAVAILABLE };
  const answers = [notReady, notReady, notReady, notReady, x, notReady, x];
  await using driver = await startScriptedDriver(socketPath(), ...answers);
  await using watch = await startWatching();
  for (let failure = 0; failure < 4; failure++) {
    await watch.log.when("Error retreiving CSI driver name", failure + 1);
    for (const ms of await watch.heldBeforeAnswer(1)) await endWait(ms);
  }
  await watch.untilAnswered(1);
  pass(STEADY_AFTER_MS);
  driver.endConnections();
  await watch.log.when("Error retreiving CSI driver name", 5);
  const held = await watch.heldBeforeAnswer(2);
  expect(held.filter((ms) => ms > FIRST_MS)).toEqual([]);
});

const LETS_NOBODY_IN = [status.INVALID_ARGUMENT, status.PERMISSION_DENIED, status.UNAUTHENTICATED];

test.each(LETS_NOBODY_IN)(
  "after code %d the driver is not asked until it restarts, then at once",
  async (code) => {
    await using driver = await startScriptedDriver(socketPath(), { code });
    await using watch = await startWatching();
    const said = await watch.log.when("Error retreiving CSI driver name");
    expect(said.fields).toEqual({ next: "retry in 30s, or when the driver restarts" });
    // A server that merely ends its connections is the same server.
    driver.endConnections();
    await eventually(() => expect(pauses()).toEqual([expect.closeTo(30_000, -4)]));
    expect(driver.authorities).toHaveLength(1);

    await driver.kill();
    await using _better = await startScriptedDriver(socketPath(), x);
    await eventually(async () => {
      for (const ms of pauses()) if (ms < LONGEST_MS) await waits.end(ms);
      expect(watch.answers()).toBe(1);
    });
  },
);

test("a socket that nobody listens on is tried without a gRPC client", async () => {
  await leaveDeadSocket(socketPath());
  await using watch = await startWatching();
  for (let tries = 0; tries < 5; tries++) {
    const [held = 0] = await watch.heldBeforeAnswer(1);
    await endWait(held);
  }
  expect(newClient).toHaveBeenCalledTimes(1);
  await using _driver = await startScriptedDriver(socketPath(), x);
  await watch.untilAnsweredAtOnce(1);
});
