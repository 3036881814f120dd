import { grid } from "../figures";
import { median, type Samples } from "../support/samples";
import { type Kind, TITLES } from "./plan";
import { driftOf, type Life } from "./statistics";

/** A disturbance that happened. */
export interface Disturbance {
  readonly kind: Kind;
  /** Until all was well for good; undefined where the next one did not wait for that. */
  readonly settledAfterMs: number | undefined;
}

/** Each kind of disturbance: how often, and the seconds until all drivers were registered for good. */
export function disturbanceTable(disturbances: readonly Disturbance[]): string {
  const kinds = Object.keys(TITLES) as Kind[];
  const rows = kinds.flatMap((kind) => {
    const those = disturbances.filter((one) => one.kind === kind);
    const seconds = those.flatMap(({ settledAfterMs: ms }) => (ms === undefined ? [] : [ms / 1_000]));
    return those.length === 0 ? [] : [[TITLES[kind], `${those.length}`, ...middleAndMost(seconds)]];
  });
  return grid(["disturbance", "times", "s to all registered: median", "longest"], rows);
}

/** What the registrars hold early and late. */
export function lifeTable(lives: readonly Life[]): string {
  const head = [
    "ran all the time",
    "drivers",
    "file descriptors",
    "inotify watches",
    "heap, MB",
    "anonymous memory, MB",
  ];
  const rows = lives.map(({ name, drivers, holdings }) => [
    name,
    `${drivers}`,
    ...(["descriptors", "watches", "heap", "anonymous"] as const).map((what) => {
      const { early, late } = driftOf(holdings.map((sample) => sample[what]));
      const digits = what === "heap" || what === "anonymous" ? 1 : 0;
      return `${early.toFixed(digits)} → ${late.toFixed(digits)}`;
    }),
  ]);
  return grid(head, rows);
}

function middleAndMost(samples: Samples): readonly string[] {
  if (samples.length === 0) return ["", ""];
  return [median(samples).toFixed(1), Math.max(...samples).toFixed(1)];
}
