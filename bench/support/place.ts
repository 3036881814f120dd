import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { silentLogger } from "../../src/logging/logger";
import { watchPath } from "../../src/unix/path-watch";
import { tryConnect } from "../../src/unix/unix-socket";
import { createTempFolder } from "../../test/support/temp-folder";

export const DRIVER = "disk.csi.example.com";

/** Folders of a node for one contestant. */
export interface Place {
  /** The CSI driver's socket; with a `*` for every driver under `plugins`. */
  readonly csiAddress: string;
  /** The plugin registration directory. */
  readonly pluginDir: string;
  /** Where the registration socket of DRIVER will be. */
  readonly socketPath: string;
}

/** Makes the folders; `csiAddress` is somewhere else where a driver is there already. */
export async function createPlace(csiAddress?: string): Promise<Place & AsyncDisposable> {
  const folder = await createTempFolder();
  const pluginDir = folder.at("reg");
  mkdirSync(pluginDir);
  return {
    csiAddress: csiAddress ?? folder.at("csi.sock"),
    pluginDir,
    socketPath: folder.at("reg", `${DRIVER}-reg.sock`),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

/** Resolves as soon as a connection to the socket is accepted; rejects after `limitMs`. */
export async function accepting(socketPath: string, limitMs = 120_000): Promise<void> {
  const untilMs = performance.now() + limitMs;
  using watch = await watchPath(socketPath, silentLogger);
  while (await tryConnect(socketPath)) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) throw new Error(`no process accepts on ${socketPath}`);
    await watch.wait(new AbortController().signal, Math.min(leftMs, LOOK_EVERY_MS));
  }
}

/** A server binds its socket before it listens. */
const LOOK_EVERY_MS = 1;

/** A TCP port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
