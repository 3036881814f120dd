import { dirname } from "node:path";
import { BACKOFF, backoffMs } from "../../base/backoff";
import { fillPattern, type PathPattern } from "../../host-path/path-pattern";
import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/repeats";
import { countDescriptorNeed, descriptorFix, descriptorLimit } from "../../unix/descriptors";
import { versionOf } from "../../unix/file-identity";
import { mayAccept, tryConnect } from "../../unix/unix-socket";
import type { RegistrationOutcome } from "../model/outcome";
import type { Registration } from "../registration/registration";
import type { Changes } from "./scan";

interface NodeDriversOptions {
  /** Registers the driver behind a socket. Throws INVALID_OPTION for a path that cannot be used. */
  readonly register: (csiAddress: string, kubeletRegistrationPath: string) => Registration;
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
  const places = new Map<string, ReturnType<typeof createPlace>>();
  /** The CSI driver sockets that are there. `file` identifies the file: two paths can lead to one socket. */
  const sockets = new Map<string, { readonly kubeletRegistrationPath: string; readonly file: string }>();
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

  const join = (csiAddress: string, failures = 0) => {
    const socket = sockets.get(csiAddress);
    if (signal.aborted || socket === undefined) return;
    const vacate = (failuresNow?: number) => {
      places.delete(csiAddress);
      if (failuresNow === undefined) joinAll();
      else join(csiAddress, failuresNow);
    };
    try {
      const registration = register(csiAddress, socket.kubeletRegistrationPath);
      const context = { driverGoneAfterMs, log, signal, vacate };
      places.set(csiAddress, createPlace(csiAddress, registration, failures, context));
    } catch (error) {
      log.error(error, "Cannot register the CSI driver", { csiAddress });
      sockets.delete(csiAddress); // Until it is found anew.
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
        const kubeletRegistrationPath = fillPattern(hostPattern, captures);
        sockets.set(csiAddress, { kubeletRegistrationPath, file: versionOf(stats) });
      }
      joinAll();
    },
    /** Deregisters every driver; `signal` must be aborted before. */
    close: async (): Promise<void> => {
      clearTimeout(roomTimer);
      await Promise.all([...places.values()].map((place) => place.close()));
      places.clear();
    },
  };
}

interface PlaceContext extends Pick<NodeDriversOptions, "driverGoneAfterMs" | "log" | "signal"> {
  /** Ends the place: the driver has left, or starts over after so many registrations in a row that failed or ended by a new name. */
  readonly vacate: (failures?: number) => void;
}

/** A driver's registration, until the driver has left or starts over. */
function createPlace(
  csiAddress: string,
  registration: Registration,
  failuresBefore: number,
  { driverGoneAfterMs, log, signal, vacate }: PlaceContext,
) {
  const sinceMs = performance.now();
  /** `failed`, `renamed`: the registration has ended, and the next one begins when `timer` is over. */
  let phase: "serving" | "leaving" | "failed" | "renamed" = "serving";
  /** Until a driver that is away is looked at, or until the next registration. */
  let timer: NodeJS.Timeout | undefined;

  const onClosed = ({ kind }: RegistrationOutcome) => {
    clearTimeout(timer);
    if (signal.aborted) return;
    if (phase === "leaving") return vacate();
    phase = kind === "failed" ? "failed" : "renamed";
    const failures = performance.now() - sinceMs < STEADY_AFTER_MS ? failuresBefore : 0;
    // One that came back under another name starts over at once, but not again and again.
    if (phase === "renamed" && failures === 0) return vacate(1);
    const waitMs = backoffMs(BACKOFF.failedDriver, failures);
    log.info(WHY_LATER[phase], { csiAddress, after: `${waitMs / 1000}s` });
    timer = setTimeout(vacate, waitMs, failures + 1);
  };

  const leave = (reason: string) => {
    if (signal.aborted || phase === "leaving") return;
    clearTimeout(timer);
    log.info("CSI driver has gone", { csiAddress, reason });
    if (phase !== "serving") return vacate();
    phase = "leaving";
    registration.close().catch(() => {}); // It never rejects.
  };

  /** After a while, looks whether the driver is back. If not, deregisters it and waits for its socket. */
  const expectDeparture = (afterMs = driverGoneAfterMs) => {
    if (phase !== "serving" || signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const isBack = mayAccept(await tryConnect(csiAddress));
      if (phase !== "serving") return;
      if (!isBack) leave(`not there for ${driverGoneAfterMs / 1000}s`);
      // A driver that accepts connections without an answer may go without a further event: look again.
      else if (!registration.status().connected)
        expectDeparture(Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));
    }, afterMs);
  };

  registration.subscribe("driver-lost", () => expectDeparture());
  registration.closed
    .then(onClosed)
    .catch((error) => log.error(error, "Cannot start over with a CSI driver", { csiAddress }));
  return {
    registration,
    leave,
    loseSocket: (): void => {
      // A driver that has another name after each restart waits all the same.
      if (phase === "renamed") return;
      const isKnown = phase === "serving" && registration.status().identity !== undefined;
      if (isKnown) expectDeparture();
      else leave("its socket is gone");
    },
    close: () => {
      clearTimeout(timer);
      return registration.close();
    },
  };
}
