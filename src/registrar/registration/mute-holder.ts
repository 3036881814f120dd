import { pause } from "../../base/pause";
import { connectBare } from "../../grpc/client/bare-call";
import type { Logger } from "../../logging/logger";

/** How often the holder of the socket is asked; the second time in a row without an answer is a warning. */
const ASK_EVERY_MS = 15_000;

/**
 * Warns once when the registrar that holds the socket accepts connections and does not answer, and says when it does again: a
 * frozen process cannot answer kubelet either. Asks by an HTTP/2 PING, of which no registrar's log tells.
 */
export async function warnWhileMute(
  socketPath: string,
  timeoutMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  let misses = 0;
  while (await pause(ASK_EVERY_MS, signal)) {
    const isAnswered = await isAlive(socketPath, timeoutMs);
    if (signal.aborted) return;
    if (isAnswered && misses > 1)
      log.info("The registrar that holds the socket answers again", { socketPath });
    misses = isAnswered ? 0 : misses + 1;
    if (misses === 2)
      log.warn("The registrar that holds the socket accepts connections and does not answer", {
        socketPath,
        check:
          "which process listens there, and is it stopped, frozen or out of CPU? End its pod: then this one takes over",
      });
  }
}

async function isAlive(socketPath: string, timeoutMs: number): Promise<boolean> {
  const connection = await connectBare(socketPath).catch(() => undefined);
  const isAnswered = await connection?.ping(timeoutMs);
  connection?.close();
  return isAnswered === true;
}
