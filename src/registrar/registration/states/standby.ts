import { join } from "node:path";
import { followSignal, pause } from "../../../base/pause";
import { listNames } from "../../../unix/files";
import { watchPath } from "../../../unix/path-watch";
import { connectTo } from "../../../unix/unix-socket";
import { aliasAfterPeer } from "../../model/socket-name";
import type { DriverFacts, LoopEvent, StateOf } from "../../model/state";
import {
  isOfAnother,
  type RegistrationContext,
  socketPathOf,
  socketsOfDriver,
  untilRemoved,
} from "../context";
import { peerIsGone } from "../decisions";
import { warnWhileMute } from "../mute-holder";
import { askInfo } from "../self-report";

/** The shortest time between two looks at a peer that closes our connection at once. */
const HOLD_AT_LEAST_MS = 500;
/** Kubelet reported a peer that we cannot find: the wait until we publish again, in the place of a dead socket if there is one. */
const UNSEEN_PEER_MS = 30_000;
/** The wait until the registrar under an alias that did not say whose it is is asked again. */
const ASK_AGAIN_MS = 10_000;

/**
 * State `standby`: a living registrar of the same driver holds the registration. We withdraw our own socket, leave
 * theirs alone, and hold a silent connection to it. That ends with the peer, even by SIGKILL, which leaves the file in
 * place and no inotify event.
 */
export async function standBy(
  { facts, reason }: StateOf<"standby">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { options, log } = context;
  await untilRemoved(context.socket.withdraw, log, signal);
  // A driver with such a name has our place: ours is under our driver's own name. `askHolder` asks again.
  if (await isOfAnother(facts, options, signal)) return { kind: "peer-gone", alias: undefined };
  const peer = await findPeer(facts, context, signal);
  if (signal.aborted) return undefined;
  if (peer !== undefined) {
    log.info("Standing by for the registrar that holds the socket", { socketPath: peer });
    using over = followSignal(signal);
    const warning = warnWhileMute(peer, options.timeoutMs, log, over.signal);
    try {
      await untilGone(peer, context, signal);
    } finally {
      over.abort();
    }
    await warning;
  } else if (reason === "already-registered") {
    log.info(
      "Kubelet has, or is registering, the driver by a socket that cannot be found, trying again later",
      {
        after: `${UNSEEN_PEER_MS / 1000}s`,
      },
    );
    if (!(await pause(UNSEEN_PEER_MS, signal))) return undefined;
    const sockets = await socketsOfDriver(facts, context, signal).catch(() => []); // The publication asks again.
    return { kind: "peer-gone", alias: aliasAfterPeer(sockets, facts.alias) };
  }
  return { kind: "peer-gone", alias: facts.alias };
}

/** Ends the standby when the holder of our place, which hung before, says that it is another driver's registrar. */
export async function askHolder(
  { facts, reason }: StateOf<"standby">,
  { options }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  if (facts.alias === undefined || reason !== "socket-taken") return undefined;
  while (await pause(ASK_AGAIN_MS, signal)) {
    const isAnothers = await isOfAnother(facts, options, signal);
    if (isAnothers !== undefined) return isAnothers ? { kind: "peer-gone", alias: undefined } : undefined;
  }
  return undefined;
}

/** The living socket of the same driver: at our own path, or any other in the directory whose GetInfo says so. */
async function findPeer(
  facts: DriverFacts,
  { options, socket }: RegistrationContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { pluginRegistrationPath, timeoutMs } = options;
  const ourPath = socketPathOf(facts, options);
  if ((await socket.look(ourPath, signal)) === "taken") return ourPath;
  const names = await listNames(pluginRegistrationPath).catch(() => []); // The publication asks again.
  const visible = names.filter((name) => !name.startsWith("."));
  for (const path of visible.map((name) => join(pluginRegistrationPath, name))) {
    const info = await askInfo(path, { timeoutMs, signal }).catch(() => undefined);
    if (info?.name === facts.driverName && info.type === options.type) return path;
  }
  return undefined;
}

async function untilGone(path: string, context: RegistrationContext, signal: AbortSignal): Promise<void> {
  using watch = await watchPath(path, context.log);
  for (;;) {
    const sinceMs = performance.now();
    // Where none can be made it looks, and tries again.
    const connection = await connectTo(path).catch(() => watch.hint());
    connection?.on("close", watch.hint);
    connection?.resume(); // Unread data would hide the end of the connection.
    await watch.wait(signal);
    connection?.off("close", watch.hint);
    connection?.destroy();
    if (signal.aborted || peerIsGone(await context.socket.look(path, signal))) return;
    await pause(sinceMs + HOLD_AT_LEAST_MS - performance.now(), signal);
  }
}
