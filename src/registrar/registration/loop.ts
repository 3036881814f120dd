import { sweepDotSockets } from "../../unix/private-socket";
import type { Inbox } from "../model/inbox";
import { failedBy, type RegistrationOutcome } from "../model/outcome";
import type { LoopEvent, RegistrationState, StateName, StateOf } from "../model/state";
import type { RegistrationContext } from "./context";
import { noticeLostStatus, remindOfMissingStatus, watchOurSocket } from "./states/in-place";
import { moveFromBackoff, remindOfSilence } from "./states/listening";
import { publishSocket } from "./states/publishing";
import { endOrRetry } from "./states/refused";
import { standBy } from "./states/standby";
import { shutDown } from "./states/stopping";
import { isStateChange, transition } from "./transition";

/** One thing that is done in a state. Ends promptly when `signal` is aborted, because the state is left. */
type Activity<Kind extends StateName> = (
  state: StateOf<Kind>,
  context: RegistrationContext,
  signal: AbortSignal,
) => Promise<LoopEvent | undefined>;

/** What is done in each state. The event that an activity ends with, if any, goes into the inbox. */
const ACTIVITIES: { readonly [Kind in StateName]: readonly Activity<Kind>[] } = {
  waiting: [],
  publishing: [publishSocket],
  listening: [watchOurSocket, moveFromBackoff, remindOfSilence],
  asked: [watchOurSocket, noticeLostStatus, remindOfMissingStatus],
  registered: [
    watchOurSocket,
    // Dot-sockets that killed registrars left behind.
    (_, { options }, signal) => sweepDotSockets(options.pluginRegistrationPath, signal),
  ],
  refused: [endOrRetry],
  standby: [standBy],
  stopping: [shutDown],
  stopped: [],
};

/**
 * One driver's registration with kubelet: the loop does what the state asks for, takes the next event, ends what it did,
 * and goes to the state that follows. Resolves after a `stop` event, when nothing is left behind; never rejects.
 */
export async function runLoop(
  context: RegistrationContext,
  inbox: Inbox<LoopEvent>,
  onTransition: (state: RegistrationState, event: LoopEvent, from: RegistrationState) => void,
): Promise<RegistrationOutcome> {
  const log = context.log.named("loop");
  let state: RegistrationState = { kind: "waiting" };
  while (state.kind !== "stopped") {
    const leave = new AbortController();
    const activities = ACTIVITIES[state.kind] as readonly Activity<StateName>[];
    const running = activities.map((activity) => perform(activity, state, leave.signal));

    let event: LoopEvent;
    let next: RegistrationState;
    do {
      event = await inbox.next();
      next = transition(state, event, { nowMs: performance.now(), random: Math.random() });
    } while (next === state);

    leave.abort();
    await Promise.all(running);

    if (isStateChange(state, next))
      log.v(isSameRound(next, event) ? 4 : 0).info("Registration state changed", {
        from: state.kind,
        to: next.kind,
        reason: event.kind,
        driver: next.facts?.driverName,
        socket: context.socket.path,
      });
    onTransition(next, event, state);
    state = next;
  }
  return state.outcome;

  async function perform(activity: Activity<StateName>, state: RegistrationState, signal: AbortSignal) {
    try {
      const event = await activity(state, { ...context, log: context.log.named(state.kind) }, signal);
      // A stop counts in any state: kubelet's next call may have led out of this one meanwhile.
      if (event) inbox.put(event, event.kind === "stop" ? undefined : signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error(error, "Registration cannot go on", { state: state.kind });
      inbox.put({ kind: "stop", reason: "failed", outcome: failedBy(error) }, signal);
    }
  }
}

const STEPS_OF_A_ROUND: readonly LoopEvent["kind"][] = ["retry", "published", "get-info", "refused"];

export function isSameRound(next: RegistrationState, event: LoopEvent): boolean {
  return (next.facts?.refusals?.repeats ?? 0) > 0 && STEPS_OF_A_ROUND.includes(event.kind);
}
