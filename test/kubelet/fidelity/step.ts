/** One thing that happened, in words that fit kubelet's code and the simulator alike. */
export interface Step {
  /** Whom it is about. The steps about one have an order; between those about two there is none to compare. */
  readonly about: string;
  readonly what: string;
  /** When kubelet did it, in milliseconds of its own clock. */
  readonly atMs?: number;
  /** How long kubelet tries nothing more about this one. */
  readonly waitMs?: number;
}

const SEES = "sees the socket";
const MISSES = "misses the socket";
const IS_LEFT = "is left";
const LOSES = "loses it";
const STARTS = "starts to";
const FAILS = "fails";

const kubelet = (path: string, what: string, times: Pick<Step, "atMs" | "waitMs"> = {}): Step => ({
  about: `kubelet, ${path}`,
  what,
  ...times,
});
const registrar = (path: string, what: string): Step => ({ about: `registrar, ${path}`, what });
const objects = (driverName: string, what: string): Step => ({ about: `API objects, ${driverName}`, what });
const hears = (method: string, authority: string) => `hears ${method}, :authority ${authority}`;

export const kubeletStep = {
  sees: (path: string) => kubelet(path, SEES),
  misses: (path: string) => kubelet(path, MISSES),
  starts: (path: string, operation: "register" | "unregister", atMs?: number) =>
    kubelet(path, `${STARTS} ${operation}`, atMs === undefined ? {} : { atMs }),
  fails: (path: string, error: string, waitMs: number, atMs: number) =>
    kubelet(path, `${FAILS}, then waits ${waitMs} ms: ${error}`, { waitMs, atMs }),
  failsSomehow: (path: string) => kubelet(path, FAILS),
};

/** What the registrar behind the socket at a path hears from kubelet. */
export const registrarStep = {
  asked: (path: string, authority: string) => registrar(path, hears("GetInfo", authority)),
  registered: (path: string) => registrar(path, "is told that it is registered"),
  refused: (path: string, error: string) => registrar(path, `is told that it is not: ${error}`),
  /** Kubelet hangs up when it has heard the last answer: something to wait for. */
  left: (path: string) => registrar(path, IS_LEFT),
};

/** What the CSI driver behind the socket at a path hears from kubelet. */
export const driverHears = (path: string, method: string, authority: string): Step => ({
  about: `driver, ${path}`,
  what: hears(method, authority),
});

/** What the API objects say, now that they say something else; undefined: nothing any more. */
export const objectStep = {
  node: (driverName: string, nodeId: string | undefined) =>
    objects(driverName, `Node ${nodeId === undefined ? LOSES : `says "${nodeId}"`}`),
  csiNode: (driverName: string, entry: string | undefined) =>
    objects(driverName, `CSINode ${entry === undefined ? LOSES : `says ${entry}`}`),
  label: (key: string, value: string | undefined): Step => ({
    about: `label ${key}`,
    what: value === undefined ? LOSES : `is "${value}"`,
  }),
};

/**
 * The step without what differs each time it is taken: the folder that everything is in, percent-encoded in some
 * :authority; which end of a call saw its deadline pass first; and what the releases of grpc-go word differently.
 */
export function comparable(step: Step, folder: string): Step {
  const textOf = (text: string) =>
    text
      .replaceAll(folder, "NODE")
      .replaceAll(encodeURIComponent(folder), "NODE")
      .replace("desc = Deadline exceeded", "desc = context deadline exceeded")
      .replace("Error while dialing dial", "Error while dialing: dial")
      .replace("desc = transport is closing", "desc = error reading from server: EOF");
  return { ...step, about: textOf(step.about), what: textOf(step.what) };
}

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
    if (its.at(-1)?.what === `${STARTS} register` && its.at(-2)?.waitMs !== undefined) its.pop();
  const byName = [...story].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(byName.map(([about, itsSteps]) => [about, itsSteps.map(({ what }) => what)]));
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The step, with a remark where kubelet should still have waited. */
function inTime(step: Step, before: readonly Step[]): Step {
  const last = before.findLast(({ atMs }) => atMs !== undefined);
  if (last?.atMs === undefined || last.waitMs === undefined || step.atMs === undefined) return step;
  // The log of kubelet's code has no date. Both steps' times were taken a little after they happened.
  const elapsedMs = (step.atMs - last.atMs + DAY_MS) % DAY_MS;
  return elapsedMs < last.waitMs * 0.9 ? { ...step, what: `${step.what}, too early` } : step;
}
