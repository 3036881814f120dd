import { existsSync, readdirSync } from "node:fs";
import { nodeTest } from "../end-to-end/support/node";
import { allRegistered, driverFoldersOf, socketsIn } from "../end-to-end/support/node-wide";
import { eventually } from "../support/eventually";
import { countInotifyWatches } from "../support/resources";

const AT_ONCE = 50;
const ROUNDS = 5;
/** A second or two each, on a machine with other work. */
const LONG_MS = 120_000;

/** What a process holds open, as Linux tells it. */
function heldBy(pid: number) {
  const folder = `/proc/${pid}/fd`;
  const descriptors = existsSync(folder) ? readdirSync(folder).length : 0;
  return { descriptors, watches: countInotifyWatches(pid) };
}

nodeTest(
  "two hundred and fifty drivers that came and went leave nothing behind",
  async (node) => {
    const { add, remove, registrar: start } = driverFoldersOf(node);
    const kubelet = await node.kubelet();
    const { pid } = start();
    const round = async (number: number) => {
      const names = Array.from({ length: AT_ONCE }, (_, index) => `r${number}-${index}.csi`);
      const drivers = await Promise.all(names.map((name) => add(name)));
      await allRegistered(kubelet, names);
      for (const [index, name] of names.entries()) {
        // Half of them go with their process, half leave it behind.
        if (index % 2 === 0) await drivers[index]?.close();
        remove(name);
      }
      await Promise.all(drivers.map((driver) => driver.close()));
      await eventually(() => expect(socketsIn(node)).toEqual([]));
    };
    await round(0);
    await eventually(() => expect(heldBy(pid).watches).toBeLessThan(10));
    const before = heldBy(pid);
    for (let number = 1; number < ROUNDS; number++) await round(number);
    // What left last may still be closing when it is counted the first time: later there may be less, never more.
    await eventually(() => {
      const after = heldBy(pid);
      expect(after.watches).toBe(before.watches);
      expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    });
  },
  LONG_MS,
);
