import { readlinkSync } from "node:fs";
import type { Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import { attempt, messageOf } from "../../base/errors";
import type { PatternPair } from "../../host-path/path-pattern";
import { boundText } from "../../logging/escape";
import type { Logger } from "../../logging/logger";
import { keepPublished } from "../../unix/kept-socket";
import { watchPath } from "../../unix/path-watch";
import { dotPathIn, sweepDotSockets } from "../../unix/private-socket";
import { createSocketFile } from "../../unix/socket-file";
import { connectTo } from "../../unix/unix-socket";
import { untilDone } from "../../unix/until-done";
import type { Registrations } from "../registration/registrations";
import { registrationsThatCount, shownName, stateText } from "../registration/standing";

// Where exec probes ask a node-wide registrar, which may have no registration socket: its drivers may wait, or have sidecars.
// A client that connects reads one JSON text, which a frozen process does not write.

interface ProbeAnswer {
  /** Which registrar this is. */
  readonly whose: string;
  /** The drivers that count and are not registered, each with its state. */
  readonly unregistered: readonly string[];
}

/** The same for a registrar and for an exec probe with its paths: the two have the mounts of their container, and no other. */
const whoseOf = (pairs: readonly PatternPair[]): string => {
  const patterns = pairs.map(({ endpoint }) => endpoint.text).toSorted();
  return [attempt(() => readlinkSync("/proc/self/ns/mnt")), ...patterns].join(" ");
};

/** A client that does not read is let go. */
const CLIENT_MS = 5_000;
/** Characters of the text about one driver, and of an answer: another program may write for ever. */
const [MAX_DRIVER_LENGTH, MAX_ANSWER_LENGTH] = [500, 1_000_000];

/** Listens on a socket that kubelet ignores, in the plugin registration directory, until `signal` is aborted. Never rejects. */
export async function answerProbes(
  registrations: Pick<Registrations, "scope" | "all">,
  at: { readonly pluginRegistrationPath: string; readonly pairs: readonly PatternPair[] },
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const whose = whoseOf(at.pairs);
  const answer = (): ProbeAnswer => {
    const others = registrationsThatCount(registrations).filter(
      ({ status }) => status().state !== "registered",
    );
    return {
      whose,
      unregistered: others.map((one) =>
        boundText(`${shownName(one)}: ${stateText(one.status())}`, MAX_DRIVER_LENGTH),
      ),
    };
  };
  const end = (connection: Socket) => {
    const over = () => connection.destroy();
    connection.on("error", over).setTimeout(CLIENT_MS, over).end(JSON.stringify(answer()), over);
  };
  const path = dotPathIn(at.pluginRegistrationPath, "ask");
  const socket = createSocketFile(end, log);
  const publish = () => socket.publish(path, { overLiving: true, atOnce: true, signal });
  // The registrations say what else a missing directory means.
  const onFailure = (error: unknown) =>
    log.warn("Cannot listen for exec probes, trying again", { reason: messageOf(error) });
  const sweeping = sweepDotSockets(at.pluginRegistrationPath, signal);
  await untilDone(publish, { path, log, signal, onFailure });
  using watch = await watchPath(path, log);
  await keepPublished(path, { socket, watch, publish, onFailure, log, signal });
  await sweeping;
  await socket
    .close()
    .catch((error: unknown) => log.error(error, "Cannot remove the socket for exec probes"));
}

/** What the registrar with these paths, in this container, says at the first of these sockets. Rejects where none answers. */
export const askRegistrar = (
  sockets: readonly string[],
  pairs: readonly PatternPair[],
  timeoutMs: number,
): Promise<ProbeAnswer> => {
  const whose = whoseOf(pairs);
  const limit = AbortSignal.timeout(timeoutMs);
  return Promise.any(
    sockets.map(async (path) => {
      let text = "";
      for await (const chunk of addAbortSignal(limit, await connectTo(path)).setEncoding("utf8")) {
        text += chunk;
        if (text.length > MAX_ANSWER_LENGTH) break;
      }
      const answer: ProbeAnswer = JSON.parse(text);
      if (answer.whose !== whose) throw new Error("another registrar");
      return answer;
    }),
  );
};
