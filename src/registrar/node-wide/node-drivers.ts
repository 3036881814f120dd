import { dirname } from "node:path";
import { BACKOFF, backoffMs } from "../../base/backoff";
import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/repeats";
import { countDescriptorNeed, descriptorFix, descriptorLimit } from "../../unix/descriptors";
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

/** A CSI driver socket that is there. */
interface DriverSocket {
  readonly kubeletRegistrationPath: string;
  /** Identifies the file: two paths can lead to one socket. */
  readonly file: string;
}

/** A driver's registration, until it has left or the next one begins. */
interface Place {
  readonly csiAddress: string;
  readonly registration: Registration;
  readonly sinceMs: number;
  phase: "serving" | "leaving";
  /** The driver's registrations in a row before this one that failed, or ended because it had another name. */
  readonly failures: number;
  /** The driver is away, until it is looked at. */
  away?: NodeJS.Timeout;
  /** The registration has ended, until the next one. */
  retry?: { readonly timer: NodeJS.Timeout; readonly isRename: boolean };
}

/** Makes the set of a node's drivers: each has one registration while its socket is there, and starts over after a failure. */
export function createNodeDrivers({ register, driverGoneAfterMs, log, signal }: NodeDriversOptions) {
  const places = new Map<string, Place>();
  const sockets = new Map<string, DriverSocket>();
  const descriptorsFor = countDescriptorNeed();
  let roomTimer: NodeJS.Timeout | undefined;
  const warnOfWait = createPacedWarning(log, "CSI drivers wait for file descriptors", REMIND_OF_ROOM_MS);

  /** Gives each socket a place, unless another path of the same socket has one or there are too few file descriptors. */
  const joinAll = () => {
    for (const [csiAddress, { file }] of sockets) {
      if (places.has(csiAddress)) continue;
      if ([...places.keys()].some((other) => sockets.get(other)?.file === file)) continue;
      if (descriptorsFor(places.size + 1) <= descriptorLimit()) join(csiAddress);
      else roomTimer ??= setTimeout(joinWaiting, LOOK_FOR_ROOM_MS);
    }
  };
  const joinWaiting = () => {
    roomTimer = undefined;
    joinAll();
    if (roomTimer === undefined) return;
    const [drivers, limit] = [sockets.size, descriptorLimit()];
    const needed = descriptorsFor(drivers);
    warnOfWait({ waiting: drivers - places.size, drivers, limit, needed, check: descriptorFix(needed) });
  };

  const join = (csiAddress: string, failures = 0) => {
    const socket = sockets.get(csiAddress);
    if (signal.aborted || socket === undefined) return;
    let registration: Registration;
    try {
      registration = register(csiAddress, socket.kubeletRegistrationPath);
    } catch (error) {
      log.error(error, "Cannot register the CSI driver", { csiAddress });
      sockets.delete(csiAddress); // Until it is found anew.
      return;
    }
    const place: Place = { csiAddress, registration, sinceMs: performance.now(), phase: "serving", failures };
    places.set(csiAddress, place);
    registration.subscribe("driver-lost", () => expectDeparture(place));
    registration.closed
      .then((outcome) => onClosed(place, outcome))
      .catch((error) => log.error(error, "Cannot start over with a CSI driver", { csiAddress }));
  };

  /** Ends a place whose registration has ended. */
  const vacate = ({ csiAddress, retry }: Place) => {
    clearTimeout(retry?.timer);
    places.delete(csiAddress);
  };

  /** After a registration has ended: a driver that is there starts over, at once or later if it failed. */
  const onClosed = (place: Place, { kind }: RegistrationOutcome) => {
    const { csiAddress } = place;
    clearTimeout(place.away);
    if (signal.aborted) return;
    if (place.phase === "leaving") {
      vacate(place);
      return joinAll();
    }
    const failures = performance.now() - place.sinceMs < STEADY_AFTER_MS ? place.failures : 0;
    const isRename = kind !== "failed";
    const startOver = () => {
      vacate(place);
      join(csiAddress, failures + 1);
    };
    // One that came back under another name starts over at once, but not again and again.
    if (isRename && failures === 0) return startOver();
    const waitMs = backoffMs(BACKOFF.failedDriver, failures);
    const message = isRename
      ? "CSI driver changed its name again, trying again later"
      : "Trying again later, or when the CSI driver restarts";
    log.info(message, { csiAddress, after: `${waitMs / 1000}s` });
    place.retry = { timer: setTimeout(startOver, waitMs), isRename };
  };

  const leave = (place: Place, reason: string) => {
    const { csiAddress } = place;
    if (signal.aborted || place.phase === "leaving") return;
    clearTimeout(place.away);
    log.info("CSI driver has gone", { csiAddress, reason });
    if (place.retry) return vacate(place);
    place.phase = "leaving";
    place.registration.close().catch(() => {}); // It never rejects.
  };

  /** After a while, looks whether the driver is back. If not, deregisters it and waits for its socket. */
  const expectDeparture = (place: Place, afterMs = driverGoneAfterMs) => {
    clearTimeout(place.away);
    if (place.phase === "leaving" || place.retry || signal.aborted) return;
    place.away = setTimeout(async () => {
      const isBack = mayAccept(await tryConnect(place.csiAddress));
      if (!isBack && !place.retry) leave(place, `not there for ${driverGoneAfterMs / 1000}s`);
      // A driver that accepts connections without an answer may go without a further event: look again.
      if (isBack && !place.registration.status().connected)
        expectDeparture(place, Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));
    }, afterMs);
  };

  const loseSocket = (place: Place) => {
    // A driver that has another name after each restart waits all the same.
    if (place.retry?.isRename) return;
    const isKnown = !place.retry && place.registration.status().identity !== undefined;
    if (isKnown) expectDeparture(place);
    else leave(place, "its socket is gone");
  };

  return {
    get registrations(): readonly Registration[] {
      return [...places.values()].map(({ registration }) => registration);
    },
    /** Deregisters drivers that have gone, and registers those that are there or came back; one that has its place keeps it. */
    update: (
      found: readonly (readonly [csiAddress: string, socket: DriverSocket])[],
      { gone, goneDirectories }: Pick<Changes, "gone" | "goneDirectories">,
    ): void => {
      for (const csiAddress of gone) sockets.delete(csiAddress);
      for (const place of places.values()) {
        if (goneDirectories.has(dirname(place.csiAddress))) leave(place, "its directory is gone");
        else if (gone.includes(place.csiAddress)) loseSocket(place);
      }
      for (const [csiAddress, socket] of found) sockets.set(csiAddress, socket);
      joinAll();
    },
    /** Deregisters every driver; `signal` must be aborted before. */
    close: async (): Promise<void> => {
      clearTimeout(roomTimer);
      for (const { away, retry } of places.values())
        for (const timer of [away, retry?.timer]) clearTimeout(timer);
      await Promise.all([...places.values()].map(({ registration }) => registration.close()));
      places.clear();
    },
  };
}
