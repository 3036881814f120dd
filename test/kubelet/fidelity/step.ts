import type { ObservedRequest } from "../../../src/simulator/driver/csi-driver";

/** One thing that happened, in words that fit kubelet's code and the simulator alike. */
export interface Step {
  /** Whom it is about. The steps about one have an order; between those about two there is none to compare. */
  readonly about: string;
  readonly what: string;
  /** When kubelet did it, in milliseconds of its own clock. */
  readonly atMs?: number;
  /** When we learnt of it, by our clock. */
  readonly toldAtMs?: number;
  /** How long kubelet tries nothing more about this one. */
  readonly waitMs?: number;
}

const SEES = "sees the socket";
const MISSES = "misses the socket";
const IS_LEFT = "is left";
const IS_REGISTERED = "is told that it is registered";
const LOSES = "loses it";
const STARTS = "starts to";
const FAILS = "fails";

const kubelet = (path: string, what: string, times: Pick<Step, "atMs" | "waitMs"> = {}): Step => ({
  about: `kubelet, ${path}`,
  what,
  ...times,
});
const registrar = (path: string, what: string): Step => ({ about: `registrar, ${path}`, what });
const driver = (path: string, what: string): Step => ({ about: `driver, ${path}`, what });
const objects = (driverName: string, what: string): Step => ({ about: `API objects, ${driverName}`, what });
/** Kubelet's deadlines. What is left of one when a call arrives is a little less. */
const DEADLINES_S = [1, 5, 120];
const hears = ({ method, authority, timeoutMs = Number.NaN }: ObservedRequest) =>
  `hears ${method}, :authority ${authority}, deadline ${DEADLINES_S.find((seconds) => timeoutMs <= seconds * 1_000)} s`;

export const kubeletStep = {
  sees: (path: string) => kubelet(path, SEES),
  misses: (path: string) => kubelet(path, MISSES),
  starts: (path: string, operation: "register" | "deregister", atMs?: number) =>
    kubelet(path, `${STARTS} ${operation}`, atMs === undefined ? {} : { atMs }),
  fails: (path: string, error: string, waitMs: number, atMs: number) =>
    kubelet(path, `${FAILS}, then waits ${waitMs} ms: ${error}`, { waitMs, atMs }),
  failsSomehow: (path: string) => kubelet(path, FAILS),
};

/**
 * Whether kubelet, by its steps about a socket and by what the registrar behind it saw, still does something: it hangs up
 * when it has the answer to the registration status.
 */
export function isRunning(about: string, steps: readonly Step[]): boolean {
  const last = steps.findLast((step) => step.about === about);
  const after = last === undefined ? [] : steps.slice(steps.indexOf(last));
  const ofRegistrar = after.filter((step) => step.about === about.replace("kubelet", "registrar"));
  const told = ofRegistrar.findIndex(({ what }) => what === IS_REGISTERED);
  const isOver = told >= 0 && ofRegistrar.slice(told).some(({ what }) => what === IS_LEFT);
  return last?.what === `${STARTS} register` && !isOver;
}

/** What the registrar behind the socket at a path hears from kubelet. */
export const registrarStep = {
  asked: (path: string, request: ObservedRequest) => registrar(path, hears(request)),
  registered: (path: string) => registrar(path, IS_REGISTERED),
  refused: (path: string, error: string) => registrar(path, `is told that it is not: ${error}`),
  /** Kubelet hangs up when it has heard the last answer: something to wait for. */
  left: (path: string) => registrar(path, IS_LEFT),
};

/** What the driver behind the socket at a path sees of kubelet. */
export const driverStep = {
  hears: (path: string, request: ObservedRequest) => driver(path, hears(request)),
  isDialled: (path: string) => driver(path, "is dialled"),
};

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
 * :authority; which end of a call saw its deadline pass first; whether a process that died left something unread; the address of
 * a pointer; and protobuf's space, which no program may rely on.
 */
export function comparable(step: Step, folder: string): Step {
  const textOf = (text: string) =>
    text
      .replaceAll(folder, "NODE")
      .replaceAll(encodeURIComponent(folder), "NODE")
      .replace("desc = Deadline exceeded", "desc = context deadline exceeded")
      .replace(/(?:read unix @->\S+: read: )?connection reset by peer/, "EOF")
      .replaceAll(/\(0x[0-9a-f]+\)/g, "(POINTER)")
      .replaceAll("\u00a0", " ");
  return { ...step, about: textOf(step.about), what: textOf(step.what), toldAtMs: Date.now() };
}

/** All that happened about each one, in order, without what kubelet's code and the simulator may tell otherwise. */
export function storyOf(steps: readonly Step[], { isRandom = false } = {}): Story {
  const story = new Map<string, Step[]>();
  for (const step of steps) {
    // A kubelet that is killed hangs up, too, when it has come to nobody knows where.
    if (step.what === IS_LEFT) continue;
    const before = story.get(step.about) ?? [];
    // Of every file that goes kubelet's code says that it takes it off its list, be it on it or not.
    if (step.what === MISSES && !before.some(({ what }) => what === SEES)) continue;
    // Where a socket goes and the next one comes at once, the simulator has no time to notice that there was none.
    if (step.what === SEES && before.at(-1)?.what === MISSES) before.pop();
    story.set(step.about, [...before, isRandom ? step : inTime(step, before)]);
  }
  // A try of kubelet's own after a failure, which nobody waited for: the end of the play may come before it or after.
  for (const its of story.values())
    if (its.at(-1)?.what === `${STARTS} register` && its.at(-2)?.waitMs !== undefined) its.pop();
  const byName = [...story].sort(([a], [b]) => (a < b ? -1 : 1));
  const told = (its: readonly Step[]) => {
    const texts = its.map(({ what }) => what);
    return isRandom ? onceEach(texts.map((text) => text.replace(/then waits \d+ ms/, "then waits"))) : texts;
  };
  return Object.fromEntries(byName.map(([about, its]) => [about, told(its)]));
}

type Story = Readonly<Record<string, readonly string[]>>;

/** A try has so many steps. */
const LONGEST_TRY = 3;

/** Without tries that were as those before them: how many there were, and whether one ran when the socket went, depends on the second. */
function onceEach(texts: readonly string[]): readonly string[] {
  const once: string[] = [];
  const inOrder = [...texts];
  for (const [index, text] of texts.entries())
    if (text === MISSES && texts[index + 1]?.startsWith(FAILS))
      inOrder.splice(index, 2, texts[index + 1] ?? "", text);
  for (const text of inOrder) {
    once.push(text);
    for (let length = 1; length <= LONGEST_TRY; length++) {
      const [last, before] = [once.slice(-length), once.slice(-2 * length, -length)];
      if (last.join("\n") === before.join("\n")) once.splice(-length);
    }
  }
  return once;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Kubelet's own times for one try. What takes less was not waited for. */
const WAITS_S = [5, 10, 20];
/** The log's times were taken a little after something happened, and a busy machine is late. */
const TOLERANCE = 0.8;

/** The step, with a remark where kubelet should still have waited, and how long a try took that failed. */
function inTime(step: Step, before: readonly Step[]): Step {
  const last = before.findLast(({ atMs }) => atMs !== undefined);
  if (last?.atMs === undefined || step.atMs === undefined) return step;
  // The log of kubelet's code has no date.
  const elapsedMs = (step.atMs - last.atMs + DAY_MS) % DAY_MS;
  if (last.waitMs !== undefined)
    return elapsedMs < last.waitMs * 0.9 ? { ...step, what: `${step.what}, too early` } : step;
  const waitS = WAITS_S.findLast((seconds) => elapsedMs > seconds * 1_000 * TOLERANCE);
  return waitS === undefined || step.waitMs === undefined
    ? step
    : { ...step, what: `${step.what}, after ${waitS} s` };
}
