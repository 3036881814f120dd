import { getEventListeners, once } from "node:events";
import fs, { chmodSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { someCallHangs, untilCallsSettle } from "../../../src/unix/file-calls";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import { failLooks } from "../../support/failing-looks";
import { leaveDeadSocket } from "../../support/foreign-socket";
import { expectNothingLeft } from "../../support/resources";
import { type Answer, startScriptedDriver } from "../../support/scripted-driver";
import { startStuckSocket } from "../../support/stuck-socket";
import { createTempFolder } from "../../support/temp-folder";
import { watchAt } from "../../support/watched-driver";

const folder = eachTest(createTempFolder);
const socketPath = () => folder.at("csi.sock");

const x: Answer = { name: "x.csi" };

test("GetPluginInfo is called as localhost, again until the driver is ready", async () => {
  const notReady = [status.UNAVAILABLE, status.INTERNAL, status.DEADLINE_EXCEEDED];
  await using driver = await startScriptedDriver(socketPath(), ...notReady.map((code) => ({ code })), x);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  expect(watch.answered).toEqual([{ name: "x.csi", awayMs: undefined }]);
  const call = { method: "/csi.v1.Identity/GetPluginInfo", durationMs: expect.any(Number) };
  expect(watch.calls).toEqual([...notReady, status.OK].map((code) => ({ ...call, code })));
  expect(driver.authorities).toEqual(Array(4).fill("localhost"));
  expect(watch.log.all("Error retreiving CSI driver name").map(({ fields }) => fields)).toEqual(
    ["retry", "retry", "retry; if the driver is slow, raise --timeout"].map((next) => ({ next })),
  );
});

test("a call that hangs is given up, and the driver is asked again", async () => {
  await using _driver = await startScriptedDriver(socketPath(), "hang", x);
  await using watch = watchAt(socketPath(), { timeoutMs: 300 });
  await watch.untilAnswered();
  // The driver answers from its second call on; where the machine is slow, that may come late, too.
  const [first, ...others] = watch.calls.map(({ code }) => code);
  expect(first).toBe(status.DEADLINE_EXCEEDED);
  expect(others.at(-1)).toBe(status.OK);
  expect(others.slice(0, -1).filter((code) => code !== status.DEADLINE_EXCEEDED)).toEqual([]);
});

test("a driver whose socket is removed or replaced is lost, though its old connections work", async () => {
  await using _first = await startScriptedDriver(socketPath(), x);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  const another = folder.at("another.sock");
  await using _second = await startScriptedDriver(another, { name: "y.csi" });
  renameSync(another, socketPath());
  await watch.untilAnswered(2);
  expect(watch.answered[1]).toEqual({ name: "y.csi", awayMs: expect.any(Number) });
  rmSync(socketPath());
  await watch.log.when("Lost connection", 2);
  expect(watch.losses()).toBe(2);
});

test.each(["dev", "ino", "mtimeMs"] as const)("a socket of another %s is another server's", async (field) => {
  await using _driver = await startScriptedDriver(socketPath(), x);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  const { stat } = fs.promises;
  jest.spyOn(fs.promises, "stat").mockImplementation((async (looked: string) => {
    const found = await stat(looked);
    return looked === socketPath() ? Object.assign(found, { [field]: found[field] + 1 }) : found;
  }) as never);
  chmodSync(socketPath(), 0o700); // A hint.
  await watch.untilAnswered(2);
  expect(watch.losses()).toBe(1);
});

test("a server that replaces the dialled one does not answer for it", async () => {
  await using former = await startScriptedDriver(socketPath(), { name: "former.csi" });
  await using _next = await startScriptedDriver(folder.at("y.sock"), x);
  const { stat } = fs.promises;
  const replacing = jest.spyOn(fs.promises, "stat").mockImplementation((async (looked: string) => {
    // Right before the look that follows the answer.
    if (looked === socketPath() && former.authorities.length > 0 && existsSync(folder.at("y.sock")))
      renameSync(folder.at("y.sock"), socketPath());
    return stat(looked);
  }) as never);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  replacing.mockRestore();
  expect(watch.answered).toEqual([{ name: "x.csi", awayMs: undefined }]);
  expect(watch.losses()).toBe(0);
});

test("what was replaced right after it accepted is not asked", async () => {
  const received: Buffer[] = [];
  let accepted = 0;
  const former = createServer((connection) => {
    accepted += 1;
    connection.on("data", (bytes) => received.push(bytes));
  });
  await once(former.listen(folder.at("former.sock")), "listening");
  await using _next = await startScriptedDriver(folder.at("y.sock"), x);
  await using watch = watchAt(socketPath());
  await watch.log.when("Connecting");
  const { stat } = fs.promises;
  const replacing = jest.spyOn(fs.promises, "stat").mockImplementation((async (looked: string) => {
    for (let turns = 0; turns < 10; turns += 1) await turn(); // Until a connection that was made is accepted.
    if (looked === socketPath() && accepted > 0 && existsSync(folder.at("y.sock")))
      renameSync(folder.at("y.sock"), socketPath());
    return stat(looked);
  }) as never);
  renameSync(folder.at("former.sock"), socketPath());
  await watch.untilAnswered();
  replacing.mockRestore();
  former.close();
  expect(accepted).toBe(1);
  expect(received).toEqual([]);
  expect(watch.calls).toMatchObject([{ code: status.OK }]);
});

test("one connection serves the call and notices the end", async () => {
  await using driver = await startScriptedDriver(socketPath(), { code: status.UNAVAILABLE }, x);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  expect(driver.connections()).toBe(2);
});

test("a driver that is made later, in a folder that is made later, is found over a dead socket", async () => {
  const path = folder.at("a", "b", "x.sock");
  await using watch = watchAt(path);
  mkdirSync(folder.at("a"));
  mkdirSync(folder.at("a", "b"));
  await leaveDeadSocket(path);
  await using _driver = await startScriptedDriver(path, x);
  await watch.untilAnswered();
});

test("a driver that accepts no connections hangs", async () => {
  await using _stuck = await startStuckSocket(socketPath());
  await using watch = watchAt(socketPath());
  const trouble = { kind: "no-answer", text: "the CSI driver accepts no connections: it hangs" };
  await eventually(() => expect(watch.status().trouble).toEqual(trouble));
});

test.each(["kill", "stop"] as const)(
  "a driver's %s is noticed, and it is asked again when it is back",
  async (end) => {
    await using first = await startScriptedDriver(socketPath(), x);
    await using watch = watchAt(socketPath());
    await watch.untilAnswered();
    const began = performance.now();
    await first[end]();
    await watch.log.when("Lost connection");
    expect(watch.losses()).toBe(1);

    await using _second = await startScriptedDriver(socketPath(), { name: "y.csi" });
    await watch.untilAnswered(2);
    expect(watch.answered[1]).toEqual({ name: "y.csi", awayMs: expect.any(Number) });
    const restored = await watch.log.when("Connection restored");
    expect(restored.fields).toEqual({
      address: `unix://${socketPath()}`,
      after: expect.stringMatching(/^\d+(\.\d+)?s$/),
    });
    expect(parseFloat(String(restored.fields.after)) * 1_000).toBeLessThan(performance.now() - began + 1);
    expect(watch.log.all("Lost connection")).toHaveLength(1);
  },
);

test("a driver that only ends a connection is not lost; one that no longer answers is", async () => {
  const odd = { name: "x_csi" };
  await using driver = await startScriptedDriver(socketPath(), odd, odd, { code: status.UNAVAILABLE }, odd);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  driver.endConnections();
  await watch.untilAnswered(2);
  expect(watch.answered[1]).toEqual({ name: "x_csi", awayMs: undefined });
  expect(watch.losses()).toBe(0);
  driver.endConnections();
  await watch.untilAnswered(3);
  expect(watch.answered[2]).toEqual({ name: "x_csi", awayMs: expect.any(Number) });
  expect(watch.losses()).toBe(1);
  driver.endConnections();
  await watch.untilAnswered(4);
  expect(watch.answered[3]).toEqual({ name: "x_csi", awayMs: undefined });
  expect(watch.log.all("CSI driver name breaks the CSI specification")).toHaveLength(1);
});

test("the end leaves no connection to a living driver", async () => {
  await using _driver = await startScriptedDriver(socketPath(), x);
  await expectNothingLeft(async () => {
    await using watch = watchAt(socketPath());
    await watch.untilAnswered();
  });
});

test.each(["EIO", "ETIMEDOUT"])("a look at its socket that fails with %s loses no driver", async (errno) => {
  await using _driver = await startScriptedDriver(socketPath(), x);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  using looks = failLooks(socketPath(), errno, "stat");
  await eventually(() => {
    chmodSync(socketPath(), 0o700); // A hint.
    expect(looks.failed()).toBeGreaterThan(2);
  });
  expect(watch.losses()).toBe(0);
});

test("the end does not wait for a look at the driver's socket that hangs", async () => {
  await using _driver = await startScriptedDriver(socketPath(), x);
  let release = (_error: Error) => {};
  const onAnswered = () =>
    void jest.spyOn(fs.promises, "stat").mockReturnValue(
      new Promise((_, reject) => {
        release = reject;
      }),
    );
  await using watch = watchAt(socketPath(), {}, { onAnswered });
  await watch.untilAnswered();
  watch.stop();
  await watch.ended;
  const hasReachedLimit = someCallHangs();
  release(new Error("the file system is away"));
  await untilCallsSettle();
  expect(hasReachedLimit).toBe(false);
});

describe("driverTimeoutMs", () => {
  const HOUR_MS = 3_600_000;
  const hour = { driverTimeoutMs: HOUR_MS, timeoutMs: 2 * HOUR_MS };
  beforeEach(() => jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "performance"] }));
  afterEach(() => void jest.useRealTimers());
  /** `why`: the end of the message, which says how the last attempt failed. */
  const timedOut = (why: string, cause?: object) => ({
    name: "RegistrarError",
    code: "DRIVER_TIMEOUT",
    message: expect.stringMatching(new RegExp(`within the driver timeout of 3600 s${why}$`)),
    ...(cause && { cause: expect.objectContaining(cause) }),
  });

  test("ends the wait for a driver that does not come", () =>
    expectNothingLeft(async () => {
      await using watch = watchAt(socketPath(), hour);
      await eventually(() => {
        jest.advanceTimersByTime(HOUR_MS / 30); // So that the driver is looked for before the end.
        expect(watch.log.all("Cannot register the CSI driver")).toHaveLength(1);
      });
      const why = "; the last attempt failed: ENOENT: no such socket yet: .*";
      expect(await watch.failed()).toMatchObject(timedOut(why, { code: "ENOENT" }));
      expect(jest.getTimerCount()).toBe(0);
    }));

  test("leaves no timer of a watch that is stopped before", async () => {
    {
      await using _watch = watchAt(socketPath(), hour);
      expect(jest.getTimerCount()).toBe(1);
    }
    expect(jest.getTimerCount()).toBe(0);
  });

  test("ends the wait for a driver that fails, with its text, also if it is gone then", async () => {
    const code = status.PERMISSION_DENIED;
    await using driver = await startScriptedDriver(socketPath(), { code, details: "license\u001b expired" });
    await using watch = watchAt(socketPath(), hour);
    await watch.log.when("Error retreiving CSI driver name");
    await driver.stop();
    await eventually(() => {
      jest.advanceTimersByTime(HOUR_MS / 30); // So that its absence is seen before the end.
      expect(watch.log.all("Cannot register the CSI driver")).toHaveLength(1);
    });
    const why = String.raw`; .* failed: 7 PERMISSION_DENIED: license\\u001b expired`;
    expect(await watch.failed()).toMatchObject(timedOut(why, { code }));
  });

  test("ends the wait for a driver that does not answer", async () => {
    await using driver = await startScriptedDriver(socketPath(), "hang");
    await using watch = watchAt(socketPath(), hour);
    await driver.called(1);
    jest.advanceTimersByTime(HOUR_MS);
    expect(await watch.failed()).toMatchObject(timedOut(""));
  });

  test("driverTimeoutMs has no effect once the driver has answered", async () => {
    await using driver = await startScriptedDriver(socketPath(), x);
    await using watch = watchAt(socketPath(), hour);
    await watch.untilAnswered();
    await driver.kill();
    jest.advanceTimersByTime(HOUR_MS);
    await using _back = await startScriptedDriver(socketPath(), x);
    await watch.untilAnswered(2);
  });
});

test("a name that is unsafe in a file ends the watch", async () => {
  await using _driver = await startScriptedDriver(socketPath(), { name: "../evil" });
  await using watch = watchAt(socketPath());
  expect(await watch.failed()).toMatchObject({ code: "UNSAFE_DRIVER_NAME" });
  expect(getEventListeners(watch.signal, "abort")).toEqual([]);
});

test("a driver that listens before it has its services is asked again, less and less often", async () => {
  const early = { code: status.UNIMPLEMENTED };
  await using _driver = await startScriptedDriver(socketPath(), early, early, x);
  await using watch = watchAt(socketPath());
  await watch.untilAnswered();
  const said = watch.log.all("Error retreiving CSI driver name").map(({ fields }) => fields.next);
  expect(said).toEqual([0.5, 1].map((s) => `retry in ${s}s, or when the driver restarts`));
});
