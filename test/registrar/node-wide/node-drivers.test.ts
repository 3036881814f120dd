import { getEventListeners } from "node:events";
import fs, { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parsePattern } from "../../../src/host-path/path-pattern";
import type { Hold } from "../../../src/registrar/driver/hold";
import { createNodeDrivers } from "../../../src/registrar/node-wide/node-drivers";
import type { Registration } from "../../../src/registrar/registration/registration";
import { countDescriptorNeed } from "../../../src/unix/descriptors";
import { eventually } from "../../support/eventually";
import { recordLog } from "../../support/recorded-log";

const path = __filename;
const found = [[path, { stats: statSync(path), captures: [], entries: new Map() }]] as const;
const pattern = parsePattern("/plugins/x/csi.sock", "--csi-address");

function createRegistration() {
  let end = () => {};
  const closed = new Promise((resolve) => {
    end = () => resolve({ kind: "stopped" });
  });
  return {
    closed,
    close: async () => end(),
    subscribe: () => {},
    status: () => ({}),
  } as unknown as Registration;
}

test("a driver that left has no listener at the common signal", async () => {
  const { signal } = new AbortController();
  const register = createRegistration;
  const drivers = createNodeDrivers({ register, driverGoneAfterMs: 0, log: recordLog().logger, signal });
  drivers.update({ found, gone: [], goneDirectories: new Set() }, pattern);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  drivers.update({ found: [], gone: [path], goneDirectories: new Set([dirname(path)]) }, pattern);
  await eventually(() => expect(drivers.registrations).toEqual([]));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a driver that left makes room for the next one", async () => {
  const limit = countDescriptorNeed()(1);
  const real = fs.readFileSync;
  jest
    .spyOn(fs, "readFileSync")
    .mockImplementation((path, ...more) =>
      path === "/proc/self/limits" ? `Max open files ${limit} ${limit} files` : real(path, ...more),
    );
  const begun: string[] = [];
  const register = (csiAddress: string, _endpoint: string, hold?: Hold) => {
    void hold?.until.then(() => begun.push(csiAddress));
    return createRegistration();
  };
  const { signal } = new AbortController();
  const drivers = createNodeDrivers({ register, driverGoneAfterMs: 0, log: recordLog().logger, signal });
  const next = join(dirname(path), "next");
  const foundNext = [[next, { ...found[0][1], stats: statSync(dirname(path)) }]] as const;
  drivers.update({ found: [...found, ...foundNext], gone: [], goneDirectories: new Set() }, pattern);
  await eventually(() => expect(begun).toEqual([path]));
  drivers.update({ found: [], gone: [path], goneDirectories: new Set() }, pattern);
  await eventually(() => expect(begun).toEqual([path, next]));
  await drivers.close();
});
