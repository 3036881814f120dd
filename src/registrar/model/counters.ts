import type { RegistrationEvent } from "./events";
import type { PublishReason } from "./state";

/** Counts since the driver has its name. Times are milliseconds since the epoch, undefined for never. */
export interface RegistrationCounters {
  /** When kubelet last called GetInfo. */
  readonly lastGetInfoAtMs: number | undefined;
  /** When kubelet last reported a registration status. */
  readonly lastStatusAtMs: number | undefined;
  /** How often kubelet called GetInfo. */
  readonly getInfoCalls: number;
  /** How often kubelet said that it registered the driver. */
  readonly accepted: number;
  /** How often kubelet said that it did not. */
  readonly refused: number;
  /** Kubelet's text, if its latest registration status was a refusal. */
  readonly kubeletError: string | undefined;
  /** Publications of our socket by the event that led to each; `driver-named` is the first. */
  readonly publications: Readonly<Partial<Record<PublishReason, number>>>;
  /** Publications after standby for a peer. */
  readonly takeovers: number;
  /** How often the driver came back after its connection was lost. */
  readonly driverReconnects: number;
}

const NOTHING: RegistrationCounters = {
  lastGetInfoAtMs: undefined,
  lastStatusAtMs: undefined,
  getInfoCalls: 0,
  accepted: 0,
  refused: 0,
  kubeletError: undefined,
  publications: {},
  takeovers: 0,
  driverReconnects: 0,
};

/** Begins anew when the driver comes back under another name: what was counted is the former name's. */
export function createCounters(now: () => number = Date.now) {
  let counters = NOTHING;
  let driverName: string | undefined;
  return {
    get current(): RegistrationCounters {
      return counters;
    },
    count: (event: RegistrationEvent): void => {
      const name = event.kind === "driver-answered" ? event.identity.name : driverName;
      counters = name === driverName ? { ...counters, ...whatChanges(counters, event, now) } : NOTHING;
      driverName = name;
    },
  };
}

function whatChanges(
  counters: RegistrationCounters,
  event: RegistrationEvent,
  now: () => number,
): Partial<RegistrationCounters> {
  switch (event.kind) {
    case "get-info":
      return { getInfoCalls: counters.getInfoCalls + 1, lastGetInfoAtMs: now() };
    case "registration-status":
      return {
        lastStatusAtMs: now(),
        accepted: counters.accepted + (event.registered ? 1 : 0),
        refused: counters.refused + (event.registered ? 0 : 1),
        kubeletError: event.registered ? undefined : event.error,
      };
    case "published": {
      const times = (counters.publications[event.reason] ?? 0) + 1;
      return {
        publications: { ...counters.publications, [event.reason]: times },
        takeovers: counters.takeovers + (event.reason === "peer-gone" ? 1 : 0),
      };
    }
    case "driver-answered":
      return { driverReconnects: counters.driverReconnects + (event.awayMs === undefined ? 0 : 1) };
    default:
      return {};
  }
}
