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

export const SEES = "sees the socket";
export const MISSES = "misses the socket";
export const IS_LEFT = "is left";
const STARTS = "starts to";
export const STARTS_TO_REGISTER = `${STARTS} register`;
const FAILS = "fails";
const REGISTERED = "is told that it is registered";
const LOSES = "loses it";

const step = (about: string, what: string, times: Pick<Step, "atMs" | "waitMs"> = {}): Step => ({
  about,
  what,
  ...times,
});

export const kubeletStep = {
  sees: (path: string) => step(kubeletOn(path), SEES),
  misses: (path: string) => step(kubeletOn(path), MISSES),
  starts: (path: string, operation: "register" | "unregister", atMs?: number) =>
    step(kubeletOn(path), `${STARTS} ${operation}`, atMs === undefined ? {} : { atMs }),
  fails: (path: string, error: string, waitMs: number, atMs: number) =>
    step(kubeletOn(path), `${FAILS}, then waits ${waitMs} ms: ${error}`, { waitMs, atMs }),
  failsSomehow: (path: string) => step(kubeletOn(path), FAILS),
};

/** What the registrar behind the socket at a path hears from kubelet. */
export const registrarStep = {
  asked: (path: string, authority: string) => step(registrarAt(path), hears("GetInfo", authority)),
  registered: (path: string) => step(registrarAt(path), REGISTERED),
  refused: (path: string, error: string) => step(registrarAt(path), `is told that it is not: ${error}`),
  /** Kubelet hangs up when it has heard the last answer: something to wait for. */
  left: (path: string) => step(registrarAt(path), IS_LEFT),
};

/** What the CSI driver behind the socket at a path hears from kubelet. */
export const driverStep = {
  asked: (path: string, method: string, authority: string) =>
    step(`driver, ${path}`, hears(method, authority)),
};

/** What the API objects say, now that they say something else; undefined: nothing any more. */
export const objectStep = {
  node: (driverName: string, nodeId: string | undefined) =>
    step(objectsOf(driverName), `Node ${nodeId === undefined ? LOSES : `says "${nodeId}"`}`),
  csiNode: (driverName: string, entry: string | undefined) =>
    step(objectsOf(driverName), `CSINode ${entry === undefined ? LOSES : `says ${entry}`}`),
  label: (key: string, value: string | undefined) =>
    step(`label ${key}`, value === undefined ? LOSES : `is "${value}"`),
};

const kubeletOn = (path: string) => `kubelet, ${path}`;
const registrarAt = (path: string) => `registrar, ${path}`;
const objectsOf = (driverName: string) => `API objects, ${driverName}`;
const hears = (method: string, authority: string) => `hears ${method}, :authority ${authority}`;
