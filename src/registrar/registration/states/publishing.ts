import { messageOf } from "../../../base/errors";
import { publishUntilThere } from "../../../unix/publish-until-there";
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
  const verbosity = reason === "retry" ? 4 : 0;
  const alias = plan.isNewName ? aliasInUse(await socketsOfDriver(facts, options, signal)) : facts.alias;
  const socketPath = socketPathOf({ ...facts, alias }, options);

  const publish = () => {
    refuseDriversOwn(socketPath, options.csiSocketPath ?? options.endpoint);
    return socket.publish(socketPath, { overLiving: plan.overLiving, signal });
  };
  const onFailure = (error: unknown) => {
    log.error(error, "Failed to listen on socket", { socketPath });
    if (endsRegistration(plan, error)) throw error;
    onUnpublished(messageOf(error));
  };
  log.v(verbosity).info("Starting Registration Server", { socketPath });
  try {
    const end = await publishUntilThere(socketPath, publish, { log, signal, onFailure });
    const event = end && publicationEvent(end, socketPath, alias);
    if (event?.kind !== "published") return event;
    const { found } = event;
    const fields = { socketPath, ...(found !== "gone" && { found }) };
    log.v(verbosity).info("Registration Server started", fields);
    if (reason === "directory-gone")
      log.warn("The plugin registration directory was removed or replaced, which kubelet does not notice", {
        pluginRegistrationPath,
        check: "if kubelet does not call, restart it",
      });
    return event;
  } catch (error) {
    return { kind: "stop", reason: "failed", outcome: failedBy(error) };
  }
}
