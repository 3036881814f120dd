import { once } from "node:events";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { errnoOf } from "../../../src/base/errors";
import { startGrpcServer } from "../../../src/grpc/server/server";
import { silentLogger } from "../../../src/logging/logger";
import { addRegistrationService } from "../../../src/registrar/registration/registration-service";

export interface BlindRegistrarOptions {
  readonly registrationSocketPath: string;
  readonly driverName: string;
  readonly kubeletRegistrationPath: string;
}

export interface BlindRegistrar extends AsyncDisposable {
  /** What the official registrar does on SIGTERM: removes the file at its path, whoever's it is. */
  readonly end: () => Promise<void>;
}

/** A registrar with the official one's manners: replaces what is at its path when it starts, removes it at its end. */
export async function startBlindRegistrar(options: BlindRegistrarOptions): Promise<BlindRegistrar> {
  const { registrationSocketPath: path, driverName, kubeletRegistrationPath } = options;
  const grpc = startGrpcServer({
    log: silentLogger,
    addServices: (server) =>
      addRegistrationService(
        server,
        {
          driverName: () => driverName,
          type: "CSIPlugin",
          supportedVersions: ["1.0.0"],
          kubeletRegistrationPath,
          report: () => ({ state: "", since: 0, reason: undefined }),
          onGetInfo: () => {},
          onRegistrationStatus: () => {},
        },
        silentLogger,
      ),
  });
  const server = await listenInPlaceOf(path, grpc.accept);
  let ending: Promise<void> | undefined;
  async function end(): Promise<void> {
    await rm(path, { force: true });
    server.close();
    await grpc.close();
  }
  const endOnce = () => {
    ending ??= end();
    return ending;
  };
  return { end: endOnce, [Symbol.asyncDispose]: endOnce };
}

/**
 * Removes what is there and listens, in one breath. A registrar that heals may be back in between all the same; then
 * once more, as the official one would when its container is restarted.
 */
async function listenInPlaceOf(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  for (;;) {
    const server = createServer(onConnection);
    rmSync(path, { force: true });
    server.listen(path);
    try {
      await once(server, "listening");
      return server;
    } catch (error) {
      if (errnoOf(error) !== "EADDRINUSE") throw error;
    }
  }
}
