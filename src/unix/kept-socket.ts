import type { Logger } from "../logging/logger";
import type { watchPath } from "./path-watch";
import type { PublishEnd } from "./publish-steps";
import type { SocketFile } from "./socket-file";
import { mayBeOurs } from "./unix-socket";
import { untilDone } from "./until-done";

interface KeepOptions {
  readonly socket: Pick<SocketFile, "look">;
  readonly watch: Pick<Awaited<ReturnType<typeof watchPath>>, "wait">;
  /** Called when the socket is gone, again by backoff as long as it rejects. */
  readonly publish: () => Promise<PublishEnd>;
  readonly onFailure: (error: unknown) => void;
  /** Receives the end of each publication. Returns the longest wait until the next look, in milliseconds; undefined: none. */
  readonly onEnd?: (end: PublishEnd) => number | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Keeps our socket at its path until `signal` is aborted: looks at each hint of the file system, and publishes when it is gone. */
export async function keepPublished(
  path: string,
  { socket, watch, publish, onFailure, onEnd = () => undefined, log, signal }: KeepOptions,
): Promise<void> {
  while (!signal.aborted) {
    const isKept = mayBeOurs(await socket.look(path, signal));
    const end = isKept ? undefined : await untilDone(publish, { path, log, signal, onFailure });
    await watch.wait(signal, end && onEnd(end));
  }
}
