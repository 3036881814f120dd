import { once } from "node:events";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { errnoOf } from "../../../src/base/errors";
import { startGrpcServer } from "../../../src/grpc/server";
import { silentLogger } from "../../../src/logging/logger";
import { createRegistrationServers } from "../../../src/registrar/registration/registration-service";

export interface BlindRegistrarOptions {
  readonly registrationSocketPath: string;
  readonly driverName: string;
  readonly kubeletRegistrationPath: string;
}

/** A registrar with the official one's manners: replaces what is at its path when it starts, removes it at its end. */
export async function startBlindRegistrar(options: BlindRegistrarOptions) {
  const { registrationSocketPath: path, driverName, kubeletRegistrationPath } = options;
  const grpc = startGrpcServer({
    log: silentLogger,
    newServer: createRegistrationServers(
      {
        driverName: () => driverName,
        whyNot: () => undefined,
        type: "CSIPlugin",
        supportedVersions: ["1.0.0"],
        kubeletRegistrationPath,
        report: () => ({ state: "", since: 0, hasKubeletCalled: false, standbys: 0 }),
        onGetInfo: () => {},
        onRegistrationStatus: () => {},
      },
      silentLogger,
    ),
  });
  const server = await listenInPlaceOf(path, grpc.accept);
  let ending: Promise<void> | undefined;
  /** What the official registrar does on SIGTERM: removes the file at its path, even if it is another process's. */
  const end = (): Promise<void> => {
    ending ??= (async () => {
      await rm(path, { force: true });
      server.close();
      await grpc.close();
    })();
    return ending;
  };
  return { end, [Symbol.asyncDispose]: end };
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
