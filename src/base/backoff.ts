/** How a wait grows from one failed attempt to the next, in milliseconds. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
  /** The random share of a wait, 0 (default) to 1: keeps many nodes from trying in step. */
  readonly jitter?: number;
}

export const BACKOFF = {
  /** Connecting to a socket: quick at first, because a server binds its socket before it listens. */
  connect: { initialMs: 1, maxMs: 5_000 },
  /** GetPluginInfo, while the driver may not be ready. */
  askDriver: { initialMs: 100, maxMs: 10_000, jitter: 0.2 },
  /** The same after UNIMPLEMENTED. */
  incompleteDriver: { initialMs: 500, maxMs: 300_000 },
  /** The same after an error that will hardly pass by itself. */
  unfitDriver: { initialMs: 30_000, maxMs: 30_000 },
  /** Publishing the socket again when its directory is away or full; inotify may wake us sooner. */
  publish: { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 },
  /** Publishing the socket under another name after kubelet refused the driver, with policy `retry`. */
  refused: { initialMs: 2_000, maxMs: 18_000, jitter: 0.2 },
  /** The same after `FIRST_REFUSALS`: tries must cost the API server less than restarts of the container. */
  refusedForLong: { initialMs: 60_000, maxMs: 240_000, jitter: 0.2 },
  /** Node-wide: a driver whose registration failed, such as one with an unsafe name. */
  failedDriver: { initialMs: 30_000, maxMs: 300_000 },
  /** Publishing the socket again after kubelet closed its connection without a registration status. */
  lostStatus: { initialMs: 5_000, maxMs: 300_000, jitter: 0.2 },
  /** API server requests; each registration status of kubelet's ends a wait. */
  apiServer: { initialMs: 500, maxMs: 30_000, jitter: 0.5 },
  /** The same where the API server refuses the client or its right, as on all nodes of a cluster at once. */
  apiRefusal: { initialMs: 500, maxMs: 300_000, jitter: 0.5 },
  /** Looking again whether CSINode lists a driver that kubelet has registered. */
  unlistedDriver: { initialMs: 200, maxMs: 10_000, jitter: 0.5 },
  /** Registering a driver again that CSINode still lacks. */
  reregistration: { initialMs: 60_000, maxMs: 3_600_000, jitter: 0.5 },
  /** Removing a taint that another client adds again and again, after the first three times. */
  taintFight: { initialMs: 1_000, maxMs: 30_000, jitter: 0.5 },
  /** Writing a condition that another client changes again and again, after the first three times. */
  conditionFight: { initialMs: 1_000, maxMs: 300_000, jitter: 0.5 },
} as const satisfies Readonly<Record<string, Backoff>>;

/** How many refusals are followed by the pace `refused`: some two minutes in all. */
export const FIRST_REFUSALS = 9;

/** The wait before attempt number `attempt` (the first retry is 0): doubles each time up to the cap. */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const full = Math.min(backoff.initialMs * 2 ** Math.min(attempt, 30), backoff.maxMs);
  return full * (1 - (backoff.jitter ?? 0) * random());
}

/** How often the log says that we still wait: each pace for `linesAtPace` lines, the last one for ever. */
export const REMINDERS = {
  /** At first as often as csi-lib-utils says so. */
  connect: { pacesMs: [10_000, 60_000, 600_000, 3_600_000], linesAtPace: 6 },
  /** Dead sockets on a node are nothing special. */
  connectNodeWide: { pacesMs: [600_000], linesAtPace: 1 },
  kubeletSilent: { pacesMs: [30_000, 120_000, 600_000, 3_600_000], linesAtPace: 1 },
} as const;

type Reminders = (typeof REMINDERS)[keyof typeof REMINDERS];

/** The wait before line number `line`, counted from 0, in milliseconds. */
export function reminderMs({ pacesMs, linesAtPace }: Reminders, line: number): number {
  return pacesMs[Math.min(Math.floor(line / linesAtPace), pacesMs.length - 1)] ?? 0;
}
