import { getEventListeners } from "node:events";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { parsePattern } from "../../../src/host-path/path-pattern";
import { createNodeDrivers } from "../../../src/registrar/node-wide/node-drivers";
import type { Registration } from "../../../src/registrar/registration/registration";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";

test("of a driver that has left nothing listens to the signal of all drivers", async () => {
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
  const path = __filename;
  const pattern = parsePattern("/plugins/x/csi.sock", "--csi-address");
  const entry = { stats: statSync(path), captures: [], entries: new Map() };
  drivers.update({ found: [[path, entry]], gone: [], goneDirectories: new Set() }, pattern);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  drivers.update({ found: [], gone: [path], goneDirectories: new Set([dirname(path)]) }, pattern);
  await eventually(() => expect(drivers.registrations).toEqual([]));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
