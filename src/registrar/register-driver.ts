import { createEventSource } from "../event-source";
import type { Protos } from "../grpc/protos";
import type { Logger } from "../logging/logger";
import { createDriverFollower, type FollowContext } from "./driver/follow-driver";
import type { RegistrarEvent } from "./events";
import type { ResolvedRegistrarOptions } from "./options";
import type { RegistrationLoopOptions } from "./registration/context";
import { CSI_VERSIONS } from "./registration/plugin-type";
import { openRegistration, type Registration } from "./registration/registration";

/** What the registrations of one process share, and what is the node-wide registrar's wish for each of its drivers. */
export interface RegisterContext extends Pick<FollowContext, "remindEveryMs" | "admit"> {
  readonly signal?: AbortSignal | undefined;
  readonly log: Logger;
  readonly protos: Protos;
  readonly placeTaken?: RegistrationLoopOptions["placeTaken"];
}

/** Registers the driver behind a socket: waits for it, learns its name, publishes its registration socket, and so on. */
export function registerDriver(
  options: ResolvedRegistrarOptions,
  { signal, log: parentLog, protos, placeTaken, ...wishes }: RegisterContext,
): Registration {
  const log = parentLog.named("registrar");
  const events = createEventSource<RegistrarEvent>();
  const driver = createDriverFollower(options, { protos, log, events, ...wishes });
  return openRegistration(
    { ...options, type: "CSIPlugin", supportedVersions: CSI_VERSIONS, placeTaken },
    {
      csiAddress: options.csiAddress,
      followDriver: driver.follow,
      driver: () => ({ identity: driver.identity, connected: driver.connected, trouble: driver.trouble }),
      events,
      protos,
      log,
      signal,
    },
  );
}
