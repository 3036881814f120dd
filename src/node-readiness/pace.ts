import { BACKOFF, type Backoff } from "../base/backoff";

/** The waits of node readiness in milliseconds; tests have shorter ones. */
export const PACE = {
  watch: {
    /** After failures, and after watches that did not last. */
    retry: { initialMs: 1_000, maxMs: 30_000, jitter: 1 } as Backoff,
    /** A watch lasts from half of this to all of it. Its start costs the server more than an hour without events. */
    lastsMs: 60 * 60_000,
    /** A watch that ended is restarted within this time: an API server that stops ends all of them at once. */
    spreadMs: 5_000,
    /** A watch that receives nothing, not even the bookmark of each minute, ends after this time. */
    silentMs: 5 * 60_000,
  },
  taint: {
    /** While CSINode does not list a driver that kubelet says is registered. */
    unlisted: BACKOFF.unlistedDriver as Backoff,
    /** Between removals of a taint that another client adds again and again. */
    fight: BACKOFF.taintFight as Backoff,
  },
  csiNode: {
    /** CSINode is read after half of this to all of it; kubelet reports its Node as often (nodeStatusReportFrequency). */
    lookEveryMs: 5 * 60_000,
    /** CSINode must lack the driver for this time: kubelet may be about to write it. */
    graceMs: 15_000,
    /** Between two repeated registrations of one driver. */
    again: BACKOFF.reregistration as Backoff,
  },
};

export type Pace = typeof PACE;
