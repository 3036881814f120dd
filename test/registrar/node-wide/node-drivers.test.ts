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
