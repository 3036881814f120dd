import { IS_LEFT, MISSES, SEES, STARTS_TO_REGISTER, type Step } from "./step";

/** All that happened about each one, in order, without what kubelet's code and the simulator may tell otherwise. */
export function storyOf(steps: readonly Step[]): Readonly<Record<string, readonly string[]>> {
  const story = new Map<string, Step[]>();
  for (const step of steps) {
    // A kubelet that is killed hangs up, too, when it has come to nobody knows where.
    if (step.what === IS_LEFT) continue;
    const before = story.get(step.about) ?? [];
    // Of every file that goes kubelet's code says that it takes it off its list, be it on it or not.
    if (step.what === MISSES && !before.some(({ what }) => what === SEES)) continue;
    // Where a socket goes and the next one comes at once, the simulator has no time to notice that there was none.
    if (step.what === SEES && before.at(-1)?.what === MISSES) before.pop();
    story.set(step.about, [...before, inTime(step, before)]);
  }
  // A try of kubelet's own after a failure, which nobody waited for: the end of the play may come before it or after.
  for (const its of story.values())
    if (its.at(-1)?.what === STARTS_TO_REGISTER && its.at(-2)?.waitMs !== undefined) its.pop();
  const byName = [...story].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName.map(([about, itsSteps]) => [about, itsSteps.map(({ what }) => what)]));
}

/** The step, with a remark where kubelet should still have waited. */
function inTime(step: Step, before: readonly Step[]): Step {
  const last = before.findLast(({ atMs }) => atMs !== undefined);
  if (last?.atMs === undefined || last.waitMs === undefined || step.atMs === undefined) return step;
  // The log of kubelet's code has no date. Both steps' times were taken a little after they happened.
  const elapsedMs = (step.atMs - last.atMs + DAY_MS) % DAY_MS;
  return elapsedMs < last.waitMs * 0.9 ? { ...step, what: `${step.what}, too early` } : step;
}

const DAY_MS = 24 * 60 * 60 * 1000;
