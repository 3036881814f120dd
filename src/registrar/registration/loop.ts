import { createKeptWatch } from "../../unix/path-watch";
import type { Inbox } from "../model/inbox";
import { failedBy, type RegistrationOutcome } from "../model/outcome";
import {
  type LoopEvent,
  type RegistrationState,
  type StateKind,
  type StateOf,
  stateNameOf,
} from "../model/state";
import type { RegistrationContext } from "./context";
import {
  remindOfMissingStatus,
  remindOfSilence,
  sweepWhenRegistered,
  watchOurSocket,
} from "./states/in-place";
import { lookOnceMore, publishSocket } from "./states/publishing";
import { endOrRetry } from "./states/refused";
import { askHolder, standBy } from "./states/standby";
import { shutDown } from "./states/stopping";
import { isStateChange, transition } from "./transition";

/** One thing that is done in a state. Ends promptly when `signal` is aborted, because the state is left. */
type Activity<Kind extends StateKind> = (
  state: StateOf<Kind>,
  context: RegistrationContext,
  signal: AbortSignal,
) => Promise<LoopEvent | undefined>;

/** What is done in each state. The event that an activity ends with, if any, goes into the inbox. */
const ACTIVITIES: { readonly [Kind in StateKind]: readonly Activity<Kind>[] } = {
  waiting: [],
  publishing: [publishSocket],
  "in-place": [watchOurSocket, lookOnceMore, remindOfSilence, remindOfMissingStatus, sweepWhenRegistered],
  refused: [endOrRetry],
  standby: [standBy, askHolder],
  stopping: [shutDown],
  stopped: [],
};

/**
 * One driver's registration with kubelet: the loop does what the state asks for, takes the next event, ends what it did,
 * and goes to the state that follows. Resolves after a `stop` event, when nothing is left behind; never rejects.
 */
export async function runLoop(
  given: Omit<RegistrationContext, "watchAt">,
  inbox: Inbox<LoopEvent>,
  onTransition: (state: RegistrationState, event: LoopEvent, from: RegistrationState) => void,
): Promise<RegistrationOutcome> {
  const { log } = given;
  const watch = createKeptWatch(log);
  const context: RegistrationContext = { ...given, watchAt: watch.at };
  let state: RegistrationState = { kind: "waiting" };
  let isRepeated = false;
  while (state.kind !== "stopped") {
    const leave = new AbortController();
    const activities = ACTIVITIES[state.kind] as readonly Activity<StateKind>[];
    const running = activities.map((activity) => perform(activity, state, leave.signal));

    let event: LoopEvent;
    let next: RegistrationState;
    do {
      event = await inbox.next();
      next = transition(state, event, { nowMs: performance.now(), random: Math.random() });
      // One look is over and found nothing: what else is done in this state goes on.
      if (event.kind === "well-placed" && next !== state) {
        onTransition(next, event, state);
        state = next;
      }
    } while (next === state);

    leave.abort();
    await Promise.all(running);
    if (next.kind !== "in-place") watch.close();

    isRepeated = isRepetition(event, next, isRepeated);
    if (isStateChange(state, next))
      log.v(isRepeated ? 4 : 0).info("Registration state changed", {
        from: stateNameOf(state),
        to: stateNameOf(next),
        reason: event.kind,
        driver: next.facts?.driverName,
        socket: context.socket.path,
      });
    onTransition(next, event, state);
    state = next;
  }
  return state.outcome;

  async function perform(activity: Activity<StateKind>, state: RegistrationState, signal: AbortSignal) {
    const event = await activity(state, context, signal).catch((error: unknown): LoopEvent | undefined => {
      if (signal.aborted) return undefined; // An activity that was stopped may fail.
      log.error(error, "Registration cannot go on", { state: stateNameOf(state) });
      return { kind: "stop", outcome: failedBy(error) };
    });
    // A stop counts in any state: kubelet's next call may have led out of this one meanwhile.
    if (event) inbox.put(event, event.kind === "stop" ? undefined : signal);
  }
}

/**
 * Whether a change of state belongs to another attempt after a refusal, of which the log tells the outcome alone, unless that is
 * the same refusal. `before`: whether the change before it did.
 */
export function isRepetition(event: LoopEvent, next: RegistrationState, before: boolean): boolean {
  if (event.kind === "retry") return true;
  const isSame = event.kind === "refused" && (next.facts?.refusals?.repeats ?? 0) > 0;
  return before && (event.kind === "published" || event.kind === "get-info" || isSame);
}
