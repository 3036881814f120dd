import { messageOf } from "../../../base/errors";
import { untilDone } from "../../../unix/until-done";
import { failedBy } from "../../model/outcome";
import { refuseDriversOwn } from "../../model/socket-name";
import type { LoopEvent, StateOf } from "../../model/state";
import { type RegistrationContext, socketPathOf, socketsOfDriver, untilRemoved } from "../context";
import {
  choosePlace,
  endsRegistration,
  placementEvent,
  planPublication,
  publicationEvent,
} from "../decisions";
import { BUSY_WITH_DRIVER } from "../hints";

/** State `publishing`: puts our socket in place, by the plan of `planPublication`; begins again if its place is another by then. */
export async function publishSocket(
  state: StateOf<"publishing">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { socket, options, log, onUnpublished } = context;
  const { pluginRegistrationPath, isNodeWide } = options;
  const { facts, reason } = state;
  const plan = planPublication(state, isNodeWide);
  const verbosity = reason === "retry" ? 4 : 0;
  const choose = async () => choosePlace(plan, await socketsOfDriver(facts, context, signal), facts.alias);
  // Ours may be in place until it moves, and a directory may be unreadable now: the look right before the publication counts.
  const ours = { alias: facts.alias, isHeld: false };
  let place = plan.isNewName ? await choose().catch(() => ours) : ours;
  const { alias } = place;
  const isPlace = async () => {
    place = await choose();
    return place.alias === alias;
  };
  const socketPath = socketPathOf({ ...facts, alias }, options);

  const publish = () => {
    refuseDriversOwn(socketPath, options.csiSocketPath ?? options.endpoint);
    return socket.publish(socketPath, { overLiving: plan.overLiving, signal, isPlace });
  };
  const onFailure = (error: unknown) => {
    log.error(error, "Failed to listen on socket", { socketPath });
    if (endsRegistration(plan, error)) throw error;
    onUnpublished(messageOf(error));
  };
  log.v(verbosity).info("Starting Registration Server", { socketPath });
  try {
    const end = await untilDone(publish, { path: socketPath, log, signal, onFailure });
    if (end === undefined) return undefined;
    const event = publicationEvent(end, socketPath, alias, place);
    if (event === undefined) return publishSocket(state, context, signal);
    if (event.kind !== "published") return event;
    const { found } = event;
    const fields = { socketPath, ...(found !== "gone" && { found }) };
    log.v(verbosity).info("Registration Server started", fields);
    if (reason === "already-registered")
      log.info("Kubelet has, or is registering, the driver by another socket, waiting for it where we were", {
        socketPath,
        check: BUSY_WITH_DRIVER,
      });
    if (reason === "directory-gone")
      log.warn("The plugin registration directory was removed or replaced, which kubelet does not notice", {
        pluginRegistrationPath,
        check: "if kubelet does not call, restart it",
      });
    return event;
  } catch (error) {
    return { kind: "stop", outcome: failedBy(error) };
  }
}

/**
 * Looks once more whether our socket, which is in place now, belongs there. No part of the publication: kubelet may call as soon
 * as it sees the socket, and what it says counts from then on. A look that fails changes nothing.
 */
export async function lookOnceMore(
  { facts, justPublished }: StateOf<"in-place">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  if (!justPublished) return undefined;
  const plan = planPublication(justPublished, context.options.isNodeWide);
  const sockets = await socketsOfDriver(facts, context, signal).catch(() => undefined);
  if (sockets === undefined) return { kind: "well-placed" };
  const event = placementEvent(plan, sockets, facts.alias);
  // Kubelet must not register the driver by it: it would refuse the other registrar.
  if (event.kind === "misplaced") await untilRemoved(context.socket.withdraw, context.log, signal);
  return event;
}
