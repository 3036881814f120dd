import { dirname } from "node:path";
import { BACKOFF, backoffMs } from "../../base/backoff";
import { followSignal, pause } from "../../base/pause";
import { fillPattern, type PathPattern } from "../../host-path/path-pattern";
import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/repeats";
import { countDescriptorNeed, descriptorFix, descriptorLimit } from "../../unix/descriptors";
import { versionOf } from "../../unix/file-identity";
import { mayAccept, tryConnect } from "../../unix/unix-socket";
import type { Registration } from "../registration/registration";
import type { Changes } from "./scan";

interface NodeDriversOptions {
  /** Registers the driver behind a socket. Throws INVALID_OPTION for a path that cannot be used. */
  readonly register: (csiAddress: string, endpoint: string) => Registration;
  readonly driverGoneAfterMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The shortest wait until the next look at a driver that is silent, whatever `driverGoneAfterMs` is. */
const SHORTEST_LOOK_MS = 1_000;
/** A failure after this long is a first failure again. */
const STEADY_AFTER_MS = BACKOFF.failedDriver.maxMs;

/** How often to look whether there is room for a driver that waits for descriptors, and how often to say so. */
const LOOK_FOR_ROOM_MS = 2_000;
const REMIND_OF_ROOM_MS = 600_000;

const WHY_LATER = {
  failed: "Trying again later, or when the CSI driver restarts",
  renamed: "CSI driver changed its name again, trying again later",
};

/** Makes the set of a node's drivers: each has one registration while its socket is there, and starts over after a failure. */
export function createNodeDrivers({ register, driverGoneAfterMs, log, signal }: NodeDriversOptions) {
  const places = new Map<string, NonNullable<ReturnType<typeof startPlace>>>();
  /** The CSI driver sockets that are there. `file` identifies the file: two paths can lead to one socket. */
  const sockets = new Map<string, { readonly endpoint: string; readonly file: string }>();
  const descriptorsFor = countDescriptorNeed();
  let roomTimer: NodeJS.Timeout | undefined;
  const warnOfWait = createPacedWarning(log, "CSI drivers wait for file descriptors", REMIND_OF_ROOM_MS);

  /** Gives each socket a place, unless it has one, by this path or another, or there are too few file descriptors. */
  const joinAll = () => {
    clearTimeout(roomTimer);
    for (const [csiAddress, { file }] of sockets) {
      if ([...places.keys()].some((other) => sockets.get(other)?.file === file)) continue;
      const limit = descriptorLimit();
      if (descriptorsFor(places.size + 1) > limit) {
        roomTimer = setTimeout(joinAll, LOOK_FOR_ROOM_MS);
        const [drivers, needed] = [sockets.size, descriptorsFor(sockets.size)];
        warnOfWait({ waiting: drivers - places.size, drivers, limit, needed, check: descriptorFix(needed) });
        break;
      }
      join(csiAddress);
    }
  };

  const join = (csiAddress: string) => {
    const place = startPlace(csiAddress, () => begin(csiAddress), { driverGoneAfterMs, log, signal });
    if (place === undefined) return;
    places.set(csiAddress, place);
    const leave = () => {
      places.delete(csiAddress);
      if (!signal.aborted) joinAll();
    };
    place.left
      .then(leave)
      .catch((error) => log.error(error, "Cannot start over with a CSI driver", { csiAddress }));
  };

  /** The registration of the driver behind a socket; undefined if the socket is gone or its path cannot be used. */
  const begin = (csiAddress: string): Registration | undefined => {
    const socket = sockets.get(csiAddress);
    if (signal.aborted || socket === undefined) return undefined;
    try {
      return register(csiAddress, socket.endpoint);
    } catch (error) {
      log.error(error, "Cannot register the CSI driver", { csiAddress });
      sockets.delete(csiAddress); // Until it is found anew.
      return undefined;
    }
  };

  return {
    get registrations(): readonly Registration[] {
      return [...places.values()].map(({ registration }) => registration);
    },
    /** Deregisters drivers that have gone, and registers those that are there or came back; one that has its place keeps it. */
    update: ({ found, gone, goneDirectories }: Changes, hostPattern: PathPattern): void => {
      for (const csiAddress of gone) sockets.delete(csiAddress);
      for (const [csiAddress, place] of [...places]) {
        if (goneDirectories.has(dirname(csiAddress))) place.leave("its directory is gone");
        else if (gone.includes(csiAddress)) place.loseSocket();
      }
      for (const [csiAddress, { stats, captures }] of found) {
        const endpoint = fillPattern(hostPattern, captures);
        sockets.set(csiAddress, { endpoint, file: versionOf(stats) });
      }
      joinAll();
    },
    /** Deregisters every driver; `signal` must be aborted before. */
    close: async (): Promise<void> => {
      clearTimeout(roomTimer);
      await Promise.all([...places.values()].map(({ registration }) => registration.close()));
      places.clear();
    },
  };
}

type PlaceContext = Pick<NodeDriversOptions, "driverGoneAfterMs" | "log" | "signal">;

/** Registers a driver, again after a failure and under each new name, until it has left the node. */
function startPlace(
  csiAddress: string,
  begin: () => Registration | undefined,
  { driverGoneAfterMs, log, signal }: PlaceContext,
) {
  const first = begin();
  if (first === undefined) return undefined;
  let registration = first;
  const gone = followSignal(signal);
  /** How the registration has ended; undefined while it lasts. */
  let end: keyof typeof WHY_LATER | undefined;
  /** Until a driver that is away is looked at. */
  let look: NodeJS.Timeout | undefined;

  const leave = (reason: string) => {
    if (gone.signal.aborted) return;
    log.info("CSI driver has gone", { csiAddress, reason });
    gone.abort();
    clearTimeout(look);
    registration.close().catch(() => {}); // It never rejects.
  };

  /** After a while, looks whether the driver is back. If not, it has left. */
  const expectDeparture = (afterMs = driverGoneAfterMs) => {
    clearTimeout(look);
    if (end !== undefined || gone.signal.aborted) return;
    look = setTimeout(async () => {
      const isBack = mayAccept(await tryConnect(csiAddress));
      if (end !== undefined) return;
      if (!isBack) leave(`not there for ${driverGoneAfterMs / 1000}s`);
      // A driver that accepts connections without an answer may go without a further event: look again.
      else if (!registration.status().connected)
        expectDeparture(Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));
    }, afterMs);
  };

  const run = async () => {
    for (let failures = 0; ; failures += 1) {
      const sinceMs = performance.now();
      registration.subscribe("driver-lost", () => expectDeparture());
      const { kind } = await registration.closed;
      clearTimeout(look);
      end = kind === "failed" ? "failed" : "renamed";
      if (gone.signal.aborted) return;
      if (performance.now() - sinceMs >= STEADY_AFTER_MS) failures = 0;
      // One that came back under another name starts over at once, but not again and again.
      if (end === "failed" || failures > 0) {
        const waitMs = backoffMs(BACKOFF.failedDriver, failures);
        log.info(WHY_LATER[end], { csiAddress, after: `${waitMs / 1000}s` });
        await pause(waitMs, gone.signal);
      }
      const next = gone.signal.aborted ? undefined : begin();
      if (next === undefined) return;
      registration = next;
      end = undefined;
    }
  };

  return {
    get registration() {
      return registration;
    },
    /** Resolves when the driver has left and its registration has ended. */
    left: run().finally(() => gone[Symbol.dispose]()),
    leave,
    loseSocket: (): void => {
      // A driver that has another name after each restart waits all the same.
      if (end === "renamed") return;
      if (end === undefined && registration.status().identity !== undefined) expectDeparture();
      else leave("its socket is gone");
    },
  };
}
