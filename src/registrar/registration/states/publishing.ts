import { BACKOFF, backoffMs } from "../../../base/backoff";
import { messageOf } from "../../../base/errors";
import { watchPath } from "../../../unix/path-watch";
import { failedBy } from "../../model/outcome";
import { aliasInUse, refuseDriversOwn } from "../../model/socket-name";
import type { LoopEvent, StateOf } from "../../model/state";
import { type RegistrationContext, socketPathOf, socketsOfDriver } from "../context";
import { endsRegistration, planPublication, publicationEvent } from "../decisions";

/** State `publishing`: puts our socket in place, by the plan of `planPublication`. */
export async function publishSocket(
  state: StateOf<"publishing">,
  { socket, options, log, onUnpublished }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { pluginRegistrationPath, isNodeWide } = options;
  const { facts, reason } = state;
  const plan = planPublication(state, isNodeWide);
  const isSameRefusal = reason === "retry" && (facts.refusals?.repeats ?? 0) > 0;
  const alias = plan.isNewName ? aliasInUse(await socketsOfDriver(facts, options)) : facts.alias;
  const socketPath = socketPathOf({ ...facts, alias }, options);

  for (let attempt = 0; !signal.aborted; attempt++) {
    using watch = await watchPath(socketPath, log);
    try {
      refuseDriversOwn(socketPath, options.csiSocketPath ?? options.endpoint);
      log.v(isSameRefusal || attempt > 0 ? 4 : 0).info("Starting Registration Server", { socketPath });
      const found = await socket.publish(socketPath, { overLiving: plan.overLiving, signal });
      const event = publicationEvent(plan, found, socketPath, alias);
      if (event.kind !== "published") return event;
      log.v(isSameRefusal ? 4 : 0).info("Registration Server started", {
        socketPath,
        ...(found !== "gone" && { found }),
      });
      if (reason === "directory-gone")
        log.warn("The plugin registration directory was removed or replaced, which kubelet does not notice", {
          pluginRegistrationPath,
          check: "if kubelet does not call, restart it",
        });
      return event;
    } catch (error) {
      if (signal.aborted) return undefined;
      log.error(error, "Failed to listen on socket", { socketPath });
      if (endsRegistration(plan, error)) return { kind: "stop", reason: "failed", outcome: failedBy(error) };
      onUnpublished(messageOf(error));
      await watch.wait(signal, backoffMs(BACKOFF.publish, attempt));
    }
  }
  return undefined;
}
