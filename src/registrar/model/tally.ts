import type { RegistrarEvent } from "./events";
import type { PublishReason } from "./state";

/** What has happened since the start, counted. Times are milliseconds since the epoch, undefined for never. */
export interface Tally {
  readonly lastGetInfoAt: number | undefined;
  readonly lastStatusAt: number | undefined;
  readonly getInfoCalls: number;
  /** How often kubelet said that the driver is registered, and that it is not. */
  readonly accepted: number;
  readonly refused: number;
  /** Kubelet's text, where its latest registration status was a refusal. */
  readonly refusal: string | undefined;
  /** How often our socket was put in place, by what led to it. The first time it is `driver-named`. */
  readonly publications: Readonly<Partial<Record<PublishReason, number>>>;
  /** How often we put our socket in place after standing by for a peer. */
  readonly takeovers: number;
  readonly driverReconnects: number;
}

const NOTHING: Tally = {
  lastGetInfoAt: undefined,
  lastStatusAt: undefined,
  getInfoCalls: 0,
  accepted: 0,
  refused: 0,
  refusal: undefined,
  publications: {},
  takeovers: 0,
  driverReconnects: 0,
};

/** Makes a tally that counts events. */
export function createTally(now: () => number = Date.now) {
  let tally = NOTHING;
  return {
    get current(): Tally {
      return tally;
    },
    count: (event: RegistrarEvent): void => {
      tally = { ...tally, ...whatChanges(tally, event, now) };
    },
  };
}

function whatChanges(tally: Tally, event: RegistrarEvent, now: () => number): Partial<Tally> {
  switch (event.kind) {
    case "asked":
      return { getInfoCalls: tally.getInfoCalls + 1, lastGetInfoAt: now() };
    case "notified":
      return {
        lastStatusAt: now(),
        accepted: tally.accepted + (event.registered ? 1 : 0),
        refused: tally.refused + (event.registered ? 0 : 1),
        refusal: event.registered ? undefined : event.error,
      };
    case "published": {
      const times = (tally.publications[event.reason] ?? 0) + 1;
      return {
        publications: { ...tally.publications, [event.reason]: times },
        takeovers: tally.takeovers + (event.reason === "peer-gone" ? 1 : 0),
      };
    }
    case "driver-answered":
      return { driverReconnects: tally.driverReconnects + (event.awayMs === undefined ? 0 : 1) };
    default:
      return {};
  }
}
