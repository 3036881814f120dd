import { BACKOFF, backoffMs } from "../../../base/backoff";
import { errnoOf, RegistrarError } from "../../../base/errors";
import { isShortage } from "../../../unix/descriptors";
import { watchPath } from "../../../unix/path-watch";
import { failedBy } from "../../model/outcome";
import { fileNameOf, findAlias, refuseDriversOwn } from "../../model/socket-name";
import type { LoopEvent, StateOf } from "../../model/state";
import { type RegistrationContext, socketPathOf } from "../context";

/** Whether descriptors or memory were short, or the file system was slow, as on a node that starts everything at once. */
const mayPass = (cause: unknown) => isShortage(cause) || errnoOf(cause) === "ETIMEDOUT";

/**
 * State `publishing`: puts our socket in place. The first time a failure is fatal, as at the official registrar, unless it may
 * pass by itself; and we replace a living socket, because the newest registrar wins, as in a rolling update, unless the options
 * say to stand by for it. Later, and after standby, we retry after failures, and stand by for a living peer.
 */
export async function publishSocket(
  state: StateOf<"publishing">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { socket, options } = context;
  const { pluginRegistrationPath } = options;
  const { facts, reason } = state;
  const log = context.log.named("publishing");
  const isFirst = !facts.everPublished;
  const isNewName = isFirst || reason === "driver-renamed";
  const overLiving = isNewName && options.placeTaken !== "stand-by";
  const failureIsFatal = isFirst && reason !== "peer-gone";
  const isSameRefusal = reason === "retry" && (facts.refusals?.repeats ?? 0) > 0;
  const alias = isNewName
    ? await findAlias(pluginRegistrationPath, fileNameOf(options.type, facts.driverName))
    : facts.alias;
  const socketPath = socketPathOf({ ...facts, alias }, context);

  for (let attempt = 0; !signal.aborted; attempt++) {
    using watch = await watchPath(socketPath, log);
    try {
      refuseDriversOwn(socketPath, options.csiSocketPath ?? options.kubeletRegistrationPath);
      log.v(isSameRefusal || attempt > 0 ? 4 : 0).info("Starting Registration Server", { socketPath });
      const found = await socket.publish(socketPath, { overLiving, signal });
      if (found === "taken" && !overLiving) return { kind: "socket-taken", alias };
      log.v(isSameRefusal ? 4 : 0).info("Registration Server started", { socketPath, found });
      if (reason === "directory-gone")
        log.warn("The plugin registration directory was removed or replaced, which kubelet does not notice", {
          pluginRegistrationPath,
          check: "if kubelet does not call, restart it",
        });
      return { kind: "published", socketPath, alias, found };
    } catch (error) {
      if (signal.aborted) return undefined;
      log.error(error, "Failed to listen on socket", { socketPath });
      if (!(error instanceof RegistrarError) || (failureIsFatal && !mayPass(error.cause)))
        return { kind: "stop", reason: "failed", outcome: failedBy(error) };
      context.onUnpublished(error.message);
      await watch.wait(signal, backoffMs(BACKOFF.publish, attempt));
    }
  }
  return undefined;
}
