import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/repeats";
import { countDescriptorNeed, descriptorFix, descriptorLimit } from "../../unix/descriptors";
import type { Hold } from "../driver/hold";

/** How often to look whether there is room for a driver that waits for descriptors, and how often to say so. */
const LOOK_FOR_ROOM_MS = 2_000;
const REMIND_OF_ROOM_MS = 600_000;

/** Makes what lets drivers begin, in the order in which they came, as far as there are file descriptors for them. */
export function createRoom(log: Logger) {
  const begun = new Set<string>();
  const waiting = new Map<string, () => void>();
  const descriptorsFor = countDescriptorNeed();
  const warnOfWait = createPacedWarning(log, "CSI drivers wait for file descriptors", REMIND_OF_ROOM_MS);
  let shortage = "";
  let timer: NodeJS.Timeout | undefined;

  const give = (): void => {
    clearTimeout(timer);
    for (const [csiAddress, begin] of waiting) {
      const limit = descriptorLimit();
      if (descriptorsFor(begun.size + 1) > limit) {
        timer = setTimeout(give, LOOK_FOR_ROOM_MS);
        const drivers = begun.size + waiting.size;
        const needed = descriptorsFor(drivers);
        shortage = descriptorFix(needed);
        warnOfWait({ waiting: waiting.size, drivers, limit, needed, check: shortage });
        return;
      }
      waiting.delete(csiAddress);
      begun.add(csiAddress);
      begin();
    }
  };

  return {
    /** A driver waits until `give` has room for it. */
    enter: (csiAddress: string): Hold => ({
      until: new Promise<void>((resolve) => waiting.set(csiAddress, resolve)),
      status: () => ({
        identity: undefined,
        trouble: { kind: "no-descriptors", text: `it waits for file descriptors: ${shortage}` },
      }),
    }),
    leave: (csiAddress: string): void => {
      begun.delete(csiAddress);
      waiting.delete(csiAddress);
    },
    give,
    close: (): void => clearTimeout(timer),
  };
}
