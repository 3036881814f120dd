import { mkdirSync } from "node:fs";
import { silentLogger } from "../../src/logging/logger";
import { untilAccepting } from "../../src/sockets/unix-socket";
import { createTempFolder } from "../../test/support/temp-folder";

export const DRIVER = "disk.csi.example.com";

/** Folders of a node for one contestant. */
export interface Place extends AsyncDisposable {
  /** The CSI driver's socket; with a `*` for every driver under `plugins`. */
  readonly csiAddress: string;
  readonly kubeletRegistrationPath: string;
  /** The plugin registration directory. */
  readonly pluginDir: string;
  /** Where the registration socket of DRIVER will be. */
  readonly socketPath: string;
  /** The path of something else in it. */
  readonly at: (...names: readonly string[]) => string;
}

/** Makes the folders; `csiAddress` is somewhere else where a driver is there already. */
export async function createPlace(csiAddress?: string): Promise<Place> {
  const folder = await createTempFolder();
  const pluginDir = folder.at("reg");
  mkdirSync(pluginDir);
  const address = csiAddress ?? folder.at("csi.sock");
  return {
    csiAddress: address,
    kubeletRegistrationPath: address,
    pluginDir,
    socketPath: folder.at("reg", `${DRIVER}-reg.sock`),
    at: folder.at,
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

/** Resolves as soon as a connection to the socket is accepted; rejects after `limitMs`. */
export async function accepting(socketPath: string, limitMs = 120_000): Promise<void> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`nobody accepts on ${socketPath}`)), limitMs);
  try {
    await untilAccepting(socketPath, { log: silentLogger, signal: limit.signal });
  } finally {
    clearTimeout(timer);
  }
}
