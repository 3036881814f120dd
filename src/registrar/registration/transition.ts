import {
  type DriverFacts,
  type LoopEvent,
  type PublishReason,
  type Refusals,
  type RegistrationState,
  type StateOf,
  stateNameOf,
} from "../model/state";
import { refusalPauseMs } from "./decisions";

/** Milliseconds of `performance.now()`, and a number from 0 to 1 for the jitter of a wait. */
export interface Moment {
  readonly nowMs: number;
  readonly random: number;
}

/**
 * The state that follows from an event: a pure function. Returns the same object if the event says nothing new in that
 * state, so that late and repeated events are harmless. Each case has every way out of its state except `stop` and
 * `driver-renamed`, which lead to the same state from each.
 */
export function transition(state: RegistrationState, event: LoopEvent, now: Moment): RegistrationState {
  const isEnding = state.kind === "stopping" || state.kind === "stopped";
  if (event.kind === "stop")
    return isEnding ? state : { kind: "stopping", facts: state.facts, outcome: event.outcome };
  if (event.kind === "driver-renamed")
    return isEnding || !state.facts ? state : rename(state.facts, event.driverName);
  switch (state.kind) {
    case "waiting":
      return event.kind === "driver-named"
        ? publish({ ...AT_FIRST, driverName: event.driverName }, event.kind)
        : state;

    case "publishing":
      if (event.kind === "published")
        return {
          ...inPlace({ ...state.facts, alias: event.alias, everPublished: true }, false),
          justPublished: state,
        };
      return event.kind === "socket-taken" ? standBy(state.facts, event.kind, event.alias) : state;

    case "in-place":
      return whileInPlace(state, event, now);

    case "refused":
      if (event.kind === "retry")
        return publish({ ...state.facts, alias: event.alias, backoff: "none" }, event.kind);
      return event.kind === "driver-restarted" ? publish(state.facts, event.kind) : state;

    case "standby":
      return event.kind === "peer-gone" ? publish({ ...state.facts, alias: event.alias }, event.kind) : state;

    case "stopping":
      return event.kind === "closed"
        ? { kind: "stopped", facts: state.facts, outcome: event.outcome }
        : state;

    case "stopped":
      return state;

    default:
      return state satisfies never;
  }
}

/** Every way out of the state in which our socket is in place, whatever kubelet has said by then. */
function whileInPlace(
  state: StateOf<"in-place">,
  event: Exclude<LoopEvent, { kind: "stop" | "driver-renamed" }>,
  now: Moment,
): RegistrationState {
  const { registered, askedAtMs } = state;
  // Without a status, kubelet may have failed to call, and back off from our path again.
  const facts: DriverFacts = askedAtMs === undefined ? state.facts : { ...state.facts, backoff: "possible" };
  switch (event.kind) {
    case "get-info":
      // The first call counts: a client that calls again and again, and is not kubelet, must not put off what follows.
      return askedAtMs === undefined ? { ...state, askedAtMs: now.nowMs } : state;

    case "accepted":
      if (registered && askedAtMs === undefined) return state;
      return {
        ...inPlace({ ...facts, ...AFTER_STATUS, refusals: undefined }, true),
        again: state.again,
      };

    case "refused":
      // It ends the call for an earlier run: kubelet's connection has found our socket at the path.
      if (facts.backoff === "refuted") return { ...state, facts: { ...facts, backoff: "none" } };
      return refuse(facts, event.error, now);

    case "already-registered":
      // Where we came from, kubelet may work for an earlier run of ours: that ends by itself, and then kubelet calls there.
      if (facts.movedFrom)
        return publish({ ...facts, ...AFTER_STATUS, ...facts.movedFrom, backoff: "refuted" }, event.kind);
      return event.isFinal ? refuse(facts, event.error, now) : standBy(facts, event.kind, facts.alias);
    case "socket-taken":
      return standBy(facts, event.kind, event.alias);

    case "well-placed":
      return state.justPublished ? { ...state, justPublished: undefined } : state;

    case "misplaced":
      return state.justPublished ?? state;

    case "reregister":
    case "driver-restarted":
      if (event.kubeletIsIdle) return publish(facts, event.kind);
      // Before kubelet has registered the driver, it will.
      if (state.again || (event.kind === "reregister" && !registered)) return state;
      return askedAtMs === undefined ? publish(facts, event.kind) : { ...state, again: event.kind };

    case "socket-gone":
    case "directory-gone":
    case "socket-dead":
      return publish(facts, event.kind);

    case "kubelet-silent":
      return stateNameOf(state) === "listening" ? moveTo(event.alias, state) : state;

    case "status-lost":
      return publish({ ...facts, lostStatuses: facts.lostStatuses + 1 }, event.kind);

    case "retry":
    case "driver-named":
    case "published":
    case "peer-gone":
    case "closed":
      return state;

    default:
      return event satisfies never;
  }
}

/** Away from kubelet's backoff; undefined: no other path is possible. */
function moveTo(alias: string | undefined, state: StateOf<"in-place">): RegistrationState {
  const facts: DriverFacts = { ...state.facts, backoff: "none" };
  if (alias === undefined) return { ...state, facts };
  return publish({ ...facts, alias, movedFrom: facts.movedFrom ?? { alias: facts.alias } }, "kubelet-silent");
}

function publish(facts: DriverFacts, reason: PublishReason): RegistrationState {
  return { kind: "publishing", facts, reason };
}

/** Its peer may leave kubelet backing off from the path. */
function standBy(
  facts: DriverFacts,
  reason: StateOf<"standby">["reason"],
  alias: string | undefined,
): StateOf<"standby"> {
  return { kind: "standby", facts: { ...facts, alias, movedFrom: undefined, backoff: "possible" }, reason };
}

function refuse(facts: DriverFacts, error: string, { random }: Moment): StateOf<"refused"> {
  const refusals = countRefusal(facts.refusals, error);
  return {
    kind: "refused",
    // It backs off from the path from now on: only the next try has another.
    facts: { ...facts, ...AFTER_STATUS, backoff: "possible", refusals },
    waitMs: refusalPauseMs(refusals.count, random),
  };
}

function inPlace(facts: DriverFacts, registered: boolean): StateOf<"in-place"> {
  const nothingYet = { justPublished: undefined, askedAtMs: undefined, again: undefined };
  return { kind: "in-place", facts, registered, ...nothingYet };
}

/** What kubelet's status has settled. */
const AFTER_STATUS = { backoff: "none", movedFrom: undefined, lostStatuses: 0 } as const;

const AT_FIRST: Omit<DriverFacts, "driverName"> = {
  alias: undefined,
  movedFrom: undefined,
  everPublished: false,
  lostStatuses: 0,
  backoff: "possible",
  refusals: undefined,
};

function rename({ everPublished }: DriverFacts, driverName: string): RegistrationState {
  return publish({ ...AT_FIRST, everPublished, driverName }, "driver-renamed");
}

function countRefusal(former: Refusals | undefined, text: string): Refusals {
  const repeats = former?.text === text ? former.repeats + 1 : 0;
  return { text, repeats, count: (former?.count ?? 0) + 1 };
}

/** Whether the public state changes, or begins again: only `publishing` leads to itself, under another name. */
export function isStateChange(from: RegistrationState, next: RegistrationState): boolean {
  return stateNameOf(next) !== stateNameOf(from) || next.kind === "publishing";
}
