import { getEventListeners } from "node:events";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { parsePattern } from "../../../src/host-path/path-pattern";
import { createNodeDrivers } from "../../../src/registrar/node-wide/node-drivers";
import type { Registration } from "../../../src/registrar/registration/registration";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";

const path = __filename;
const found = [[path, { stats: statSync(path), captures: [], entries: new Map() }]] as const;
const pattern = parsePattern("/plugins/x/csi.sock", "--csi-address");

test("a driver that left has no listener at the common signal", async () => {
  const { signal } = new AbortController();
  let end = () => {};
  const closed = new Promise((resolve) => {
    end = () => resolve({ kind: "stopped" });
  });
  const registration = {
    closed,
    close: async () => end(),
    subscribe: () => {},
  } as unknown as Registration;
  const register = () => registration;
  const drivers = createNodeDrivers({ register, driverGoneAfterMs: 0, log: recordLog().logger, signal });
  drivers.update({ found, gone: [], goneDirectories: new Set() }, pattern);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  drivers.update({ found: [], gone: [path], goneDirectories: new Set([dirname(path)]) }, pattern);
  await eventually(() => expect(drivers.registrations).toEqual([]));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a wait before the next registration leaves no listener behind", async () => {
  jest.useFakeTimers({
    doNotFake: ["Date", "nextTick", "performance", "queueMicrotask", "setImmediate", "setInterval"],
  });
  const listens = jest.spyOn(EventTarget.prototype, "addEventListener");
  const { logger, when } = recordLog();
  const error = new Error("it fails");
  const register = () =>
    ({ closed: Promise.resolve({ kind: "failed", error }), subscribe: () => {} }) as unknown as Registration;
  const stop = new AbortController();
  const drivers = createNodeDrivers({ register, driverGoneAfterMs: 0, log: logger, signal: stop.signal });
  drivers.update({ found, gone: [], goneDirectories: new Set() }, pattern);
  for (let nth = 1; nth <= 5; nth += 1) {
    await when("Trying again later, or when the CSI driver restarts", nth);
    const signals = new Set(listens.mock.contexts.filter((one) => one instanceof AbortSignal));
    for (const one of signals) expect(getEventListeners(one, "abort").length).toBeLessThanOrEqual(1);
    expect(signals.size).toBeGreaterThan(0);
    jest.advanceTimersByTime(600_000);
  }
  stop.abort();
  listens.mockRestore();
  jest.useRealTimers();
});
