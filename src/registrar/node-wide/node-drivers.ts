import { dirname } from "node:path";
import { fillPattern, type PathPattern } from "../../host-path/path-pattern";
import type { Logger } from "../../logging/logger";
import { versionOf } from "../../unix/file-identity";
import type { Hold } from "../driver/hold";
import type { Registration } from "../registration/registration";
import { startPlace } from "./place";
import { createRoom } from "./room";
import type { Changes } from "./scan";

interface NodeDriversOptions {
  /** Starts the registration of the driver behind a socket. */
  readonly register: (csiAddress: string, endpoint: string, hold: Hold | undefined) => Registration;
  readonly driverGoneAfterMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Makes the set of a node's drivers: each has one registration while its socket is there, and starts over after a failure. One
 * that must wait has a registration, too, which says why: the registrations have every driver.
 */
export function createNodeDrivers({ register, driverGoneAfterMs, log, signal }: NodeDriversOptions) {
  const places = new Map<string, ReturnType<typeof startPlace>>();
  /** The CSI driver sockets that are there. `file` identifies the file: two paths can lead to one socket. */
  const sockets = new Map<string, { readonly endpoint: string; readonly file: string }>();
  const room = createRoom(log);

  /** Gives each socket a place, unless it has one, by this path or another. */
  const joinAll = () => {
    if (signal.aborted) return;
    for (const [csiAddress, { endpoint, file }] of sockets)
      if (![...places.keys()].some((other) => sockets.get(other)?.file === file)) join(csiAddress, endpoint);
    room.give();
  };

  const join = (csiAddress: string, endpoint: string) => {
    const place = startPlace(csiAddress, room.enter(csiAddress), {
      begin: (hold) => register(csiAddress, endpoint, hold),
      isThere: () => sockets.has(csiAddress),
      ...{ driverGoneAfterMs, log, signal },
    });
    places.set(csiAddress, place);
    const leave = () => {
      places.delete(csiAddress);
      room.leave(csiAddress);
      joinAll();
    };
    place.left
      .then(leave)
      .catch((error) => log.error(error, "Cannot start over with a CSI driver", { csiAddress }));
  };

  return {
    /** Of every driver that was found. */
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
      room.close();
      await Promise.all([...places.values()].map(({ registration }) => registration.close()));
      places.clear();
    },
  };
}
