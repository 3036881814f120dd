import type { Inbox } from "../model/inbox";
import { failedBy, type RegistrationOutcome } from "../model/outcome";
import type { LoopEvent, RegistrationState } from "../model/state";
import { type RegistrationContext, socketPathOf } from "./context";
import { awaitRegistrationStatus } from "./states/asked";
import { watchOurSocket } from "./states/in-place";
import { moveFromBackoff, remindOfSilence } from "./states/listening";
import { publishSocket } from "./states/publishing";
import { awaitRetry, endRefused } from "./states/refused";
import { standBy } from "./states/standby";
import { shutDown } from "./states/stopping";
import { isStateChange, transition } from "./transition";

/** One thing that is done in a state. The event that it ends with, if any, is put into the inbox. */
type Activity = (signal: AbortSignal) => Promise<LoopEvent | undefined>;

/**
 * One driver's registration with kubelet, from waiting for its name to its end. It does what its state asks for, takes
 * the next event, and goes to the state that follows from it; what it did before has ended by then. Resolves when all
 * is over and nothing is left behind; never rejects. A `stop` event ends it.
 */
export async function runRegistration(
  context: RegistrationContext,
  inbox: Inbox<LoopEvent>,
  onTransition: (state: RegistrationState, event: LoopEvent, from: RegistrationState) => void,
): Promise<RegistrationOutcome> {
  const log = context.log.named("loop");
  let state: RegistrationState = { kind: "waiting" };
  while (state.kind !== "stopped") {
    const leave = new AbortController();
    const activities = activitiesIn(state, context).map((activity) => perform(activity, leave.signal));

    let event: LoopEvent;
    let next: RegistrationState;
    do {
      event = await inbox.next();
      next = transition(state, event, { nowMs: performance.now(), random: Math.random() });
    } while (next === state);

    leave.abort();
    await Promise.all(activities);

    if (isStateChange(state, next))
      log.v(isSameRound(next, event) ? 4 : 0).info("Registration state changed", {
        from: state.kind,
        to: next.kind,
        reason: event.kind,
        driver: "facts" in next ? next.facts?.driverName : undefined,
        socket: context.socket.path,
      });
    onTransition(next, event, state);
    state = next;
  }
  return state.outcome;

  async function perform(activity: Activity, signal: AbortSignal): Promise<void> {
    try {
      const event = await activity(signal);
      // An end is no matter of the state: kubelet's next call may have led out of that meanwhile.
      if (event) inbox.put(event, event.kind === "stop" ? undefined : signal);
    } catch (error) {
      if (signal.aborted) return;
      log.error(error, "Registration cannot go on", { state: state.kind });
      inbox.put({ kind: "stop", reason: "failed", outcome: failedBy(error) }, signal);
    }
  }
}

const STEPS_OF_A_ROUND: readonly LoopEvent["kind"][] = ["retry", "published", "get-info", "refused"];

/** Whether a change is one more round of the same refusal. */
export function isSameRound(next: RegistrationState, event: LoopEvent): boolean {
  const repeats = "facts" in next ? (next.facts?.refusals?.repeats ?? 0) : 0;
  return repeats > 0 && STEPS_OF_A_ROUND.includes(event.kind);
}

/** What is done while in a state, until it is left. Everything ends promptly when its signal is aborted. */
function activitiesIn(state: RegistrationState, context: RegistrationContext): readonly Activity[] {
  switch (state.kind) {
    case "publishing":
      return [(signal) => publishSocket(state, context, signal)];
    case "listening":
      return [
        (signal) => watchOurSocket(state, context, signal),
        (signal) => moveFromBackoff(state, context, signal),
        (signal) => remindOfSilence(socketPathOf(state.facts, context), context, signal),
      ];
    case "asked":
      return [
        (signal) => watchOurSocket(state, context, signal),
        (signal) => awaitRegistrationStatus(state, context, signal),
      ];
    case "registered":
      return [(signal) => watchOurSocket(state, context, signal)];
    case "refused":
      if (context.options.onRegistrationFailure === "exit") return [async () => endRefused(state, context)];
      return [
        (signal) => watchOurSocket(state, context, signal),
        (signal) => awaitRetry(state, context, signal),
      ];
    case "standby":
      return [(signal) => standBy(state, context, signal)];
    case "stopping":
      return [() => shutDown(state, context)];
    case "waiting":
    case "stopped":
      return [];
    default:
      return state satisfies never;
  }
}
