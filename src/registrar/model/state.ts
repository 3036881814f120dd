import type { SocketFound } from "../../unix/unix-socket";
import type { RegistrationOutcome } from "./outcome";

/** Every state, in the order of a registration's life. */
export const STATE_NAMES = [
  /** The CSI driver has not given its name yet. */
  "waiting",
  /** We put the registration socket in place. */
  "publishing",
  /** The socket is in place; kubelet has not called since. */
  "listening",
  /** Kubelet called GetInfo and will report the registration status. */
  "asked",
  /** Kubelet said that the driver is registered. */
  "registered",
  /** Kubelet said that it does not register the driver. */
  "refused",
  /** A living registrar of the same driver holds the registration; ours is not ready. */
  "standby",
  /** We remove our socket and let running calls finish. */
  "stopping",
  "stopped",
] as const;

/** The name of a state. */
export type StateName = (typeof STATE_NAMES)[number];

/** What a registration knows in every state after `waiting`. */
export interface DriverFacts {
  readonly driverName: string;
  /** Replaces the driver's name in the name of our socket, to get around kubelet's backoff. */
  readonly alias: string | undefined;
  readonly everPublished: boolean;
  /** How many of kubelet's registration statuses were lost under this name since the last one that came. */
  readonly lostStatuses: number;
  /**
   * Whether kubelet may be backing off from our path: `possible` until kubelet registers the driver there or we have moved to
   * another path, and after kubelet refused it there; `refuted`, for minutes, once the move has shown that kubelet is busy with the driver.
   */
  readonly backoff: "possible" | "refuted" | "none";
  /** Where we were before we moved from a supposed backoff, until kubelet reports a status; undefined if we have not moved. */
  readonly movedFrom: { readonly alias: string | undefined } | undefined;
  /** Kubelet's refusals since it last registered the driver. */
  readonly refusals: Refusals | undefined;
}

export interface Refusals {
  /** Kubelet's latest text, 4,096 characters at most. */
  readonly text: string;
  readonly count: number;
  /** How often the latest text came again. */
  readonly repeats: number;
}

interface Publishing {
  readonly kind: "publishing";
  readonly facts: DriverFacts;
  readonly reason: PublishReason;
}

/**
 * Our socket is in place. Its public name is `registered` from kubelet's first acceptance on, before that `asked` while kubelet
 * owes a status, else `listening` (`stateNameOf`). Times are milliseconds of `performance.now()`.
 */
interface InPlace {
  readonly kind: "in-place";
  readonly facts: DriverFacts;
  /** Kubelet said so; it stays true when kubelet restarts and asks again, until an attempt fails. */
  readonly registered: boolean;
  /** When kubelet first called GetInfo since its last registration status, or since the publication. */
  readonly askedAtMs: number | undefined;
  /** What put our socket here, until we have looked whether another registrar has published the driver elsewhere meanwhile. */
  readonly justPublished: Publishing | undefined;
  /** Why kubelet should register the driver anew after this attempt; undefined if it should not. */
  readonly again: "driver-restarted" | "reregister" | undefined;
}

interface Ended {
  readonly facts: DriverFacts | undefined;
  readonly outcome: RegistrationOutcome;
}

/** A state of one driver's registration, with its data. Only `transition` makes one. */
export type RegistrationState =
  | { readonly kind: "waiting"; readonly facts?: undefined }
  | Publishing
  | InPlace
  | {
      readonly kind: "refused";
      readonly facts: DriverFacts & { readonly refusals: Refusals };
      readonly waitMs: number;
    }
  | {
      readonly kind: "standby";
      readonly facts: DriverFacts;
      readonly reason: "socket-taken" | "already-registered";
    }
  | ({ readonly kind: "stopping" } & Ended)
  | ({ readonly kind: "stopped" } & Ended);

export type StateKind = RegistrationState["kind"];
export type StateOf<Kind extends StateKind> = Extract<RegistrationState, { readonly kind: Kind }>;

/** The name by which logs, metrics and callers know a state. */
export function stateNameOf(state: RegistrationState): StateName {
  if (state.kind !== "in-place") return state.kind;
  if (state.registered) return "registered";
  return state.askedAtMs === undefined ? "listening" : "asked";
}

/** Everything that can change the state of a registration; the loop takes it from its inbox. */
export type LoopEvent =
  | { readonly kind: "driver-named"; readonly driverName: string }
  | { readonly kind: "driver-renamed"; readonly driverName: string }
  /** The driver came back: register it again, at once unless kubelet may be registering it. */
  | { readonly kind: "driver-restarted"; readonly kubeletIsIdle?: true }
  | {
      readonly kind: "published";
      readonly socketPath: string;
      readonly alias: string | undefined;
      readonly found: SocketFound;
    }
  /** After our socket was put in place: it belongs there, or belongs to another path by now. */
  | { readonly kind: "well-placed" }
  | { readonly kind: "misplaced" }
  /** What is at our path, as in `SocketFound`. */
  | { readonly kind: "socket-gone" }
  /** The plugin registration directory was removed or replaced, with our socket in it. */
  | { readonly kind: "directory-gone" }
  | { readonly kind: "socket-dead" }
  | { readonly kind: "socket-taken"; readonly alias: string | undefined }
  /** Kubelet may be backing off from our path: another name gets a fresh start; undefined if no other fits. */
  | { readonly kind: "kubelet-silent"; readonly alias: string | undefined }
  /** Kubelet called GetInfo; perhaps without an answer. */
  | { readonly kind: "get-info" }
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly error: string }
  /** Kubelet's connection has ended after GetInfo, and its registration status has not come. */
  | { readonly kind: "status-lost" }
  /**
   * Kubelet says that it has the driver by another path: there is a peer, or a call for an earlier run of ours is not over.
   * `isFinal`: by the policy, there is no standby for a peer.
   */
  | { readonly kind: "already-registered"; readonly error: string; readonly isFinal: boolean }
  /** The wait after a refusal is over. */
  | { readonly kind: "retry"; readonly alias: string | undefined }
  /** The registrar that held the registration is gone. */
  | { readonly kind: "peer-gone"; readonly alias: string | undefined }
  | { readonly kind: "reregister"; readonly kubeletIsIdle?: true }
  | { readonly kind: "stop"; readonly outcome: RegistrationOutcome }
  | { readonly kind: "closed"; readonly outcome: RegistrationOutcome };

export const PUBLISH_REASONS = [
  "driver-named",
  "driver-renamed",
  "driver-restarted",
  "socket-gone",
  "directory-gone",
  "socket-dead",
  "kubelet-silent",
  "already-registered",
  "status-lost",
  "retry",
  "peer-gone",
  "reregister",
] as const;
/** The event that led to a publication of the registration socket. */
export type PublishReason = (typeof PUBLISH_REASONS)[number];

/** The event that led to a change of state. */
export type StateChangeReason = LoopEvent["kind"];

/** One change of state. */
export interface StateChange {
  /** The state before. */
  readonly from: StateName;
  /** The state after. */
  readonly to: StateName;
  /** The event that led to it, as in the log. */
  readonly reason: StateChangeReason;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}
