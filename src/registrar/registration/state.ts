/** Where one driver's registration stands. */
export type RegistrationState =
  /** The CSI driver has not told its name yet. */
  | "waiting"
  /** The registration socket is about to be put in place. */
  | "publishing"
  /** The socket is in place, kubelet has not called since. */
  | "listening"
  /** Kubelet called GetInfo; its notice is awaited. */
  | "asked"
  /** Kubelet said that the driver is registered. */
  | "registered"
  /** Kubelet said that it does not register the driver. */
  | "refused"
  /** A living registrar of the same driver holds the registration: hands off, not ready. */
  | "standby"
  /** Our socket is being removed, running calls are being finished. */
  | "stopping"
  | "stopped";

/** What can happen to a registration. */
export type RegistrationEvent =
  | { readonly kind: "driver-named"; readonly driverName: string }
  | { readonly kind: "driver-renamed"; readonly driverName: string }
  | { readonly kind: "driver-restarted" }
  | { readonly kind: "published"; readonly socketPath: string }
  /** Our socket file is not there any more. */
  | { readonly kind: "socket-gone" }
  /** Another socket has our path, and nobody listens on it. */
  | { readonly kind: "socket-dead" }
  /** Another socket has our path, and somebody listens on it. */
  | { readonly kind: "socket-taken" }
  /** Kubelet backs off from our path: another name gets a fresh start. */
  | { readonly kind: "kubelet-silent" }
  | { readonly kind: "get-info" }
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly error: string }
  /** Kubelet says that the driver is registered under another path: there is a peer. */
  | { readonly kind: "already-registered"; readonly error: string }
  /** The wait after a refusal is over. */
  | { readonly kind: "retry" }
  /** The living registrar that we stood by for is gone. */
  | { readonly kind: "peer-gone" }
  | { readonly kind: "stop"; readonly reason: string }
  | { readonly kind: "closed" };

/** One step of a registration's life. */
export interface StateChange {
  readonly from: RegistrationState;
  readonly to: RegistrationState;
  readonly event: RegistrationEvent;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type Moves = { readonly [From in RegistrationState]?: RegistrationState };

const OURS_IN_PLACE = ["listening", "asked", "registered", "refused"] as const;
const ALIVE = ["waiting", "publishing", ...OURS_IN_PLACE, "standby"] as const;

const from = (states: readonly RegistrationState[], to: RegistrationState): Moves =>
  Object.fromEntries(states.map((state) => [state, to]));

/**
 * The whole machine: for each event, from which state to which. A pair that is missing means that the event says
 * nothing new there: late notices and repeated calls are harmless.
 */
const MOVES: { readonly [Kind in RegistrationEvent["kind"]]: Moves } = {
  "driver-named": { waiting: "publishing" },
  "driver-renamed": from([...OURS_IN_PLACE, "publishing", "standby"], "publishing"),
  "driver-restarted": from(OURS_IN_PLACE, "publishing"),
  published: { publishing: "listening" },
  "socket-gone": from(OURS_IN_PLACE, "publishing"),
  "socket-dead": from(OURS_IN_PLACE, "publishing"),
  "socket-taken": from([...OURS_IN_PLACE, "publishing"], "standby"),
  "kubelet-silent": { listening: "publishing" },
  // A kubelet that restarts asks again: registered stays true until an attempt fails.
  "get-info": { listening: "asked", refused: "asked" },
  accepted: from(OURS_IN_PLACE, "registered"),
  refused: from(OURS_IN_PLACE, "refused"),
  "already-registered": from(OURS_IN_PLACE, "standby"),
  retry: { refused: "publishing" },
  "peer-gone": { standby: "publishing" },
  stop: from(ALIVE, "stopping"),
  closed: { stopping: "stopped" },
};

/** The state that follows, or undefined where the event changes nothing. */
export function transition(
  state: RegistrationState,
  event: RegistrationEvent,
): RegistrationState | undefined {
  const next = MOVES[event.kind][state];
  return next === state ? undefined : next;
}

/** How many changes a machine remembers. */
export const HISTORY_LENGTH = 50;

/** The one place where a driver's state is held and changed. */
export interface StateMachine {
  readonly state: RegistrationState;
  /** The latest changes, oldest first, at most HISTORY_LENGTH. */
  readonly history: readonly StateChange[];
  /** Says what happened. Answers whether the state changed by it. */
  dispatch(event: RegistrationEvent): boolean;
}

/** Makes a machine in state `initial`; `onChange` is called after each change, inside `dispatch`. */
export function createStateMachine(
  initial: "waiting" | "publishing",
  onChange: (change: StateChange) => void,
  now: () => number = Date.now,
): StateMachine {
  let state: RegistrationState = initial;
  let history: readonly StateChange[] = [];
  return {
    get state() {
      return state;
    },
    get history() {
      return history;
    },
    dispatch: (event) => {
      const to = transition(state, event);
      if (to === undefined) return false;
      const change: StateChange = { from: state, to, event, at: now() };
      state = to;
      history = [...history, change].slice(-HISTORY_LENGTH);
      onChange(change);
      return true;
    },
  };
}
