import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { errnoOf, messageOf } from "../../base/errors";
import { startTimer, stopTimer } from "../../base/pause";
import { type BareConnection, connectBare } from "../../grpc/client/bare-call";
import type { PluginInfo } from "../../grpc/protos";
import { countDescriptors, descriptorLimit, descriptorShortage } from "../../unix/descriptors";
import { callFileSystem } from "../../unix/file-calls";
import { versionOf } from "../../unix/file-identity";
import type { Publication } from "../../unix/socket-file";
import { getInfo } from "./self-report";

/** How a registration socket was found. The texts are the official registrar's (node_register.go, httpServer). */
export type SelfCheck =
  | { readonly kind: "ok" }
  | { readonly kind: "missing"; readonly text: string }
  /** It is not a socket, does not answer, or answers for another driver. */
  | { readonly kind: "wrong"; readonly text: string };

/** With fewer left, a check that fails proves nothing: it takes two, its connection and the accepted one. */
const CHECK_DESCRIPTORS = 4;

/**
 * Walks kubelet's own path: whether GetInfo gives `driverName` within `timeoutMs`. `ok` if there are no descriptors for it.
 */
export async function checkRegistrationSocket(
  socketPath: string,
  driverName: string,
  timeoutMs: number,
  ask: ReturnType<typeof createKeptAsk>,
): Promise<SelfCheck> {
  const wrong = (text: string) => ({ kind: "wrong", text }) as const;
  let file: Stats;
  try {
    file = await callFileSystem(socketPath, () => lstat(socketPath));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return { kind: "missing", text: "registration socket does not exist" };
    return wrong(`failed to stat the socket ${socketPath} with error: ${messageOf(error)}`);
  }
  if (!file.isSocket()) return wrong(`file exists in socketPath ${socketPath} but it's not a socket`);
  try {
    const { name } = await ask(socketPath, file, timeoutMs);
    return name === driverName ? { kind: "ok" } : wrong(`invalid driver name ${name}`);
  } catch (error) {
    if (descriptorLimit() - countDescriptors() < CHECK_DESCRIPTORS) return { kind: "ok" };
    return wrong(`error getting info from node-registrar socket: ${messageOf(error)}`);
  }
}

/** So long after its last check a kept connection is closed: probes come every 10 s by default, some every 20 s. */
const KEEP_MS = 30_000;

/** Closes the one kept connection of the process: each costs two descriptors, and there may be hundreds of drivers. */
const ofProcess = { drop: () => {} };

/**
 * Makes the `ask` of a registration's own socket. Most of a check is its connection, so the last one is kept, and a PING repeats
 * what GetInfo proved over it: while we listen on the file at the path, and it is, unchanged, the one that was connected to.
 * `publicationOf` gives the publication of a file; undefined if we do not listen on it.
 */
export function createKeptAsk(
  publicationOf: (file: Stats) => Publication | undefined,
  { keepMs = KEEP_MS } = {},
) {
  let kept:
    | { readonly connection: BareConnection; readonly file: Stats; readonly info: PluginInfo }
    | undefined;
  let idle: NodeJS.Timeout | undefined;
  const drop = () => {
    stopTimer(idle);
    kept?.connection.close();
    kept = undefined;
  };
  return async (socketPath: string, file: Stats, timeoutMs: number): Promise<PluginInfo> => {
    const until = performance.now() + timeoutMs;
    const ours = publicationOf(file);
    const isSame =
      kept && ours && versionOf(kept.file) === versionOf(file) && kept.file.ctimeMs === file.ctimeMs;
    if (kept && isSame) {
      const { connection, info } = kept;
      idle?.refresh();
      if (await connection.ping(timeoutMs)) return info;
    }
    drop();
    const connection = await connectBare(socketPath);
    try {
      // A ping may have used up the time.
      const info = await getInfo(connection.call, { timeoutMs: Math.max(1, until - performance.now()) });
      if (ours && !ours.withdrawn.aborted && descriptorShortage() === undefined) {
        ofProcess.drop(); // Also that of a check that ran beside this one.
        ofProcess.drop = drop;
        ours.withdrawn.addEventListener("abort", drop, { once: true });
        idle = startTimer(drop, keepMs).unref();
        kept = { connection, file, info };
      }
      return info;
    } finally {
      if (kept?.connection !== connection) connection.close();
    }
  };
}

const ANSWER_HOLDS_MS = 1_000;

/** Makes a check that runs once at a time and whose answer holds for a second, whatever the number of callers. */
export function createCachedCheck(check: () => Promise<SelfCheck>): () => Promise<SelfCheck> {
  let running: Promise<SelfCheck> | undefined;
  let validUntil = 0;
  return () => {
    if (running === undefined || performance.now() >= validUntil) {
      validUntil = Number.POSITIVE_INFINITY;
      running = check().finally(() => {
        validUntil = performance.now() + ANSWER_HOLDS_MS;
      });
    }
    return running;
  };
}
