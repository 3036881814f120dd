import { BACKOFF, backoffMs } from "../../base/backoff";
import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/repeats";
import { countDescriptorNeed, descriptorFix, descriptorLimit } from "../../unix/descriptors";
import { mayAccept, tryConnect } from "../../unix/unix-socket";
import type { RegistrationOutcome } from "../model/outcome";
import type { Registration } from "../registration/registration";

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

interface Place {
  readonly csiAddress: string;
  readonly registration: Registration;
  readonly sinceMs: number;
  phase: "serving" | "failed" | "leaving";
  /** The driver's registrations in a row before this one that failed, or ended because it had another name. */
  readonly failures: number;
  /** In phase `serving`: the driver is away. In phase `failed`: until the next registration. */
  timer?: NodeJS.Timeout;
}

/** Makes the set of a node's drivers: each has one registration while its socket is there, and starts over after a failure. */
export function createNodeDrivers({ register, driverGoneAfterMs, log, signal }: NodeDriversOptions) {
  const places = new Map<string, Place>();
  /** The CSI driver sockets that are there, with their paths on the host. */
  const sockets = new Map<string, string>();
  const descriptorsFor = countDescriptorNeed();
  let roomTimer: NodeJS.Timeout | undefined;
  const warnOfWait = createPacedWarning(log, "CSI drivers wait for file descriptors", REMIND_OF_ROOM_MS);

  /** Registers the drivers for which there are file descriptors. The others wait until drivers leave or the limit is raised. */
  const joinIfRoom = (csiAddress: string) => {
    if (descriptorsFor(places.size + 1) <= descriptorLimit()) join(csiAddress);
    else roomTimer ??= setTimeout(joinWaiting, LOOK_FOR_ROOM_MS);
  };
  const joinWaiting = () => {
    roomTimer = undefined;
    for (const csiAddress of sockets.keys()) if (!places.has(csiAddress)) joinIfRoom(csiAddress);
    if (roomTimer === undefined) return;
    const needed = descriptorsFor(sockets.size);
    const fields = { waiting: sockets.size - places.size, drivers: sockets.size, limit: descriptorLimit() };
    warnOfWait({ ...fields, needed, check: descriptorFix(needed) });
  };

  const join = (csiAddress: string, failures = 0) => {
    const kubeletRegistrationPath = sockets.get(csiAddress);
    if (signal.aborted || kubeletRegistrationPath === undefined) return;
    let registration: Registration;
    try {
      registration = register(csiAddress, kubeletRegistrationPath);
    } catch (error) {
      log.error(error, "Cannot register the CSI driver", { csiAddress });
      return;
    }
    const place: Place = { csiAddress, registration, sinceMs: performance.now(), phase: "serving", failures };
    places.set(csiAddress, place);
    registration.subscribe("driver-lost", () => expectDeparture(place));
    registration.closed
      .then((outcome) => onClosed(place, outcome))
      .catch((error) => log.error(error, "Cannot start over with a CSI driver", { csiAddress }));
  };

  /** After a registration has ended: a driver that is there starts over, at once or later if it failed. */
  const onClosed = (place: Place, outcome: RegistrationOutcome) => {
    const { csiAddress } = place;
    const startOver = (failures = 0) => {
      places.delete(csiAddress);
      join(csiAddress, failures);
    };
    clearTimeout(place.timer);
    if (signal.aborted) return;
    if (place.phase === "leaving") return startOver();
    const failures = performance.now() - place.sinceMs < STEADY_AFTER_MS ? place.failures : 0;
    // One that came back under another name starts over at once, but not again and again.
    if (outcome.kind !== "failed" && failures === 0) return startOver(1);
    place.phase = "failed";
    const waitMs = backoffMs(BACKOFF.failedDriver, failures);
    log.info("Trying again later, or when the CSI driver restarts", {
      csiAddress,
      after: `${waitMs / 1000}s`,
    });
    place.timer = setTimeout(() => startOver(failures + 1), waitMs);
  };

  const leave = (place: Place, reason: string) => {
    const { csiAddress } = place;
    if (signal.aborted || place.phase === "leaving") return;
    clearTimeout(place.timer);
    log.info("CSI driver has gone", { csiAddress, reason });
    if (place.phase === "failed") places.delete(csiAddress);
    place.phase = "leaving";
    place.registration.close().catch(() => {}); // It never rejects.
  };

  /** After a while, looks whether the driver is back. If not, deregisters it and waits for its socket. */
  const expectDeparture = (place: Place, afterMs = driverGoneAfterMs) => {
    clearTimeout(place.timer);
    if (place.phase !== "serving" || signal.aborted) return;
    place.timer = setTimeout(async () => {
      const isBack = mayAccept(await tryConnect(place.csiAddress));
      if (!isBack && place.phase === "serving") leave(place, `not there for ${driverGoneAfterMs / 1000}s`);
      // A driver that accepts connections without an answer may go without a further event: look again.
      if (isBack && !place.registration.status().connected)
        expectDeparture(place, Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));
    }, afterMs);
  };

  return {
    get registrations(): readonly Registration[] {
      return [...places.values()].map(({ registration }) => registration);
    },
    /** Registers a driver that is there or came back; one that has its place keeps it. */
    found: (csiAddress: string, kubeletRegistrationPath: string): void => {
      sockets.set(csiAddress, kubeletRegistrationPath);
      if (!places.has(csiAddress)) joinIfRoom(csiAddress);
    },
    gone: (csiAddress: string, what: "socket" | "directory"): void => {
      sockets.delete(csiAddress);
      const place = places.get(csiAddress);
      if (place === undefined) return;
      const isKnown = place.phase === "serving" && place.registration.status().identity !== undefined;
      if (what === "socket" && isKnown) expectDeparture(place);
      else leave(place, `its ${what} is gone`);
    },
    /** Deregisters every driver; `signal` must be aborted before. */
    close: async (): Promise<void> => {
      clearTimeout(roomTimer);
      for (const { timer } of places.values()) clearTimeout(timer);
      await Promise.all([...places.values()].map(({ registration }) => registration.close()));
      places.clear();
    },
  };
}
