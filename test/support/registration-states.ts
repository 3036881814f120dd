import {
  type DriverFacts,
  type LoopEvent,
  type StateKind,
  type StateName,
  type StateOf,
  stateNameOf,
} from "../../src/registrar/model/state";
import { isStateChange, transition } from "../../src/registrar/registration/transition";

export const facts: DriverFacts = {
  driverName: "x.csi",
  alias: undefined,
  movedFrom: undefined,
  everPublished: true,
  lostStatuses: 0,
  backoff: "possible",
  refusals: undefined,
};

const refusals = { text: "no", count: 1, repeats: 0 };
const listening = {
  kind: "in-place",
  facts,
  registered: false,
  justPublished: { kind: "publishing", facts, reason: "driver-named" },
  askedAtMs: undefined,
  again: undefined,
} as const;

type Named<Name extends StateName> = StateOf<Name extends StateKind ? Name : "in-place">;

const STATES: { readonly [Name in StateName]: Named<Name> } = {
  waiting: { kind: "waiting" },
  publishing: { kind: "publishing", facts, reason: "driver-named" },
  listening,
  asked: { ...listening, askedAtMs: 1_000 },
  registered: {
    ...listening,
    registered: true,
    justPublished: undefined,
    facts: { ...facts, backoff: "none" },
  },
  refused: { kind: "refused", facts: { ...facts, refusals }, waitMs: 1_000 },
  standby: { kind: "standby", facts, reason: "socket-taken" },
  stopping: { kind: "stopping", facts, outcome: { kind: "stopped" } },
  stopped: { kind: "stopped", facts, outcome: { kind: "stopped" } },
};

export function stateNamed<Name extends StateName>(name: Name): Named<Name> {
  return STATES[name];
}

/** An event of each kind. A driver that restarts does so while kubelet is busy with nothing else. */
export function eventOf(kind: LoopEvent["kind"]): LoopEvent {
  const idleKubelet = kind === "driver-restarted" ? { kubeletIsIdle: true } : {};
  const rest = {
    driverName: "y.csi",
    socketPath: "/x",
    alias: kind === "kubelet-silent" ? "x_1" : undefined,
    found: "gone",
    error: "no",
  };
  return { kind, ...rest, ...idleKubelet, outcome: { kind: "stopped" } } as LoopEvent;
}

/** Every kind of event there is: the compiler sees to it that none is missing. */
export const EVENT_KINDS = Object.keys({
  "driver-named": 0,
  "driver-renamed": 0,
  "driver-restarted": 0,
  published: 0,
  "well-placed": 0,
  misplaced: 0,
  "socket-gone": 0,
  "directory-gone": 0,
  "socket-dead": 0,
  "socket-taken": 0,
  "kubelet-silent": 0,
  "status-lost": 0,
  "get-info": 0,
  accepted: 0,
  refused: 0,
  "already-registered": 0,
  retry: 0,
  "peer-gone": 0,
  reregister: 0,
  stop: 0,
  closed: 0,
} satisfies Record<LoopEvent["kind"], 0>) as readonly LoopEvent["kind"][];

/** The name of the state to which an event leads from the state of that name; undefined where it leads nowhere. */
export function leadsTo(from: StateName, kind: LoopEvent["kind"]): StateName | undefined {
  const state = stateNamed(from);
  const next = transition(state, eventOf(kind), { nowMs: 2_000, random: 0 });
  return isStateChange(state, next) && next !== state ? stateNameOf(next) : undefined;
}
