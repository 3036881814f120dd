import type {
  DriverFacts,
  InPlaceState,
  LoopEvent,
  PublishReason,
  Refusals,
  RegistrationState,
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
        return inPlace("listening", {
          ...state.facts,
          alias: event.alias,
          everPublished: true,
          foundDeadSocket: state.facts.everPublished ? state.facts.foundDeadSocket : event.found === "dead",
        });
      return event.kind === "socket-taken"
        ? { kind: "standby", facts: { ...state.facts, alias: event.alias }, reason: event.kind }
        : state;

    case "listening":
    case "asked":
    case "registered":
      return whileInPlace(state, event, now);

    case "refused":
      if (event.kind === "retry") return publish({ ...state.facts, alias: event.alias }, event.kind);
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

/** Whether kubelet has registered the driver, is not registering it again, and is not to. */
export function mayReregister(state: RegistrationState): boolean {
  return state.kind === "registered" && state.askedAtMs === undefined && state.again === undefined;
}

/** Every way out of the three states in which our socket is in place: a lost socket has the same remedy in each. */
function whileInPlace(
  state: InPlaceState,
  event: Exclude<LoopEvent, { kind: "stop" | "driver-renamed" }>,
  now: Moment,
): RegistrationState {
  const { facts } = state;
  switch (event.kind) {
    case "get-info":
      // A kubelet that restarts asks again: registered stays true until an attempt fails.
      if (state.kind === "registered") return { ...state, askedAtMs: now.nowMs };
      return { kind: "asked", facts, askedAtMs: now.nowMs, again: state.again };

    case "accepted": {
      if (state.kind === "registered" && state.askedAtMs === undefined) return state;
      const known = { ...facts, everRegistered: true, refusals: undefined, lostStatuses: 0 };
      return { ...inPlace("registered", known), again: state.again };
    }

    case "refused": {
      const refusals = countRefusal(facts.refusals, event.error);
      const waitMs = refusalPauseMs(refusals.count, now.random);
      return { kind: "refused", facts: { ...facts, refusals, lostStatuses: 0 }, waitMs };
    }

    case "already-registered":
    case "socket-taken":
      return { kind: "standby", facts, reason: event.kind };

    case "reregister":
    case "driver-restarted":
      if (event.kubeletIsIdle) return publish(facts, event.kind);
      // In the other states kubelet is registering the driver, or will.
      if (event.kind === "reregister" && state.kind !== "registered") return state;
      if (state.askedAtMs === undefined) return publish(facts, event.kind);
      return state.again ? state : { ...state, again: event.kind };

    case "socket-gone":
    case "directory-gone":
    case "socket-dead":
      return publish(facts, event.kind);

    case "kubelet-silent":
      if (state.kind !== "listening") return state;
      return publish({ ...facts, alias: event.alias, hasMoved: true }, event.kind);

    case "status-lost":
      if (state.kind !== "asked") return state;
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

function publish(facts: DriverFacts, reason: PublishReason): RegistrationState {
  return { kind: "publishing", facts, reason };
}

function inPlace<Kind extends "listening" | "registered">(kind: Kind, facts: DriverFacts) {
  return { kind, facts, askedAtMs: undefined, again: undefined } as const;
}

const AT_FIRST: Omit<DriverFacts, "driverName"> = {
  alias: undefined,
  everPublished: false,
  lostStatuses: 0,
  foundDeadSocket: false,
  hasMoved: false,
  everRegistered: false,
  refusals: undefined,
};

function rename(facts: DriverFacts, driverName: string): RegistrationState {
  const forgotten = { alias: undefined, foundDeadSocket: false, refusals: undefined, lostStatuses: 0 };
  return publish({ ...facts, ...forgotten, driverName }, "driver-renamed");
}

function countRefusal(former: Refusals | undefined, text: string): Refusals {
  const repeats = former?.text === text ? former.repeats + 1 : 0;
  return { text, repeats, count: (former?.count ?? 0) + 1 };
}

/** Whether the state changes, or begins again: only `publishing` leads to itself, under another name. */
export function isStateChange(from: RegistrationState, next: RegistrationState): boolean {
  return next.kind !== from.kind || next.kind === "publishing";
}
