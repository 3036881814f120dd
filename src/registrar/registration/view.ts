import type { EventSource } from "../../base/event-source";
import { createCounters } from "../model/counters";
import type { RegistrationEvent } from "../model/events";
import type { ResolvedOptions } from "../model/options";
import { type LoopEvent, type RegistrationState, type StateChange, stateNameOf } from "../model/state";
import { type DriverHealth, type DriverStatus, type DriverTrouble, reasonOf } from "../model/status";
import { socketPathOf } from "./context";
import type { RegistrationReport } from "./self-report";
import { isStateChange } from "./transition";

const HISTORY_LENGTH = 50;

/** What is known of one registration, made from its transitions and events. */
export function createView(
  options: ResolvedOptions,
  driver: { readonly status: () => DriverHealth },
  events: EventSource<RegistrationEvent>,
) {
  const startedAt = Date.now();
  const counters = createCounters();
  events.subscribe(counters.count);
  let state: RegistrationState = { kind: "waiting" };
  let history: readonly StateChange[] = [];
  let unpublished: DriverTrouble | undefined;

  const socketPath = () => state.facts && socketPathOf(state.facts, options);
  const status = (): DriverStatus => {
    const health = driver.status();
    return {
      ...health,
      trouble: health.trouble ?? unpublished,
      state: stateNameOf(state),
      history: [...history],
      registrationSocketPath: state.facts?.everPublished ? socketPath() : undefined,
      counters: counters.current,
      outcome: state.kind === "stopped" ? state.outcome : undefined,
    };
  };

  return {
    status,
    get state() {
      return state;
    },
    get driverName() {
      return state.facts?.driverName;
    },
    /** Where our socket belongs; undefined before the driver has a name. */
    socketPath,
    /** The path that should have our socket, or a peer's, and whose: after the first publication, unless a refusal lasts. */
    ownSocket: () => {
      const isRefused =
        state.kind === "refused" || (state.kind === "standby" && state.reason === "already-registered");
      if (isRefused || !state.facts?.everPublished) return undefined;
      return { path: socketPathOf(state.facts, options), name: state.facts.driverName };
    },
    /** What self-checks get; `standbys` is the number of silent connections. */
    report: (standbys: number): RegistrationReport => {
      const now = status();
      return {
        state: now.state,
        changedAtMs: history.at(-1)?.atMs ?? startedAt,
        reason: reasonOf(now),
        kubeletError: now.counters.kubeletError,
        hasKubeletCalled: now.counters.getInfoCalls > 0,
        standbys,
      };
    },
    onTransition: (next: RegistrationState, event: LoopEvent, from: RegistrationState): void => {
      state = next;
      unpublished = undefined;
      if (event.kind === "published" && from.kind === "publishing")
        events.emit({ kind: "published", socketPath: event.socketPath, reason: from.reason });
      if (!isStateChange(from, next)) return;
      const change: StateChange = {
        from: stateNameOf(from),
        to: stateNameOf(next),
        reason: event.kind,
        atMs: Date.now(),
      };
      history = [...history, change].slice(-HISTORY_LENGTH);
      events.emit({ kind: "state-changed", change });
    },
    onUnpublished: (reason: string): void => {
      unpublished = { kind: "not-published", text: `cannot publish the registration socket: ${reason}` };
    },
  };
}

export type RegistrationView = ReturnType<typeof createView>;
