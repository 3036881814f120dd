import { canHang, isWithin, type Mount, mountPlaceOf, readMounts } from "./mounts";

/** A call that takes longer counts as hanging, in milliseconds. */
const LIMIT_MS = 2_000;
/** How long the mount table is kept, in milliseconds, so that a burst of calls reads it once. */
const MOUNTS_VALID_MS = 10;

/**
 * Node has four threads for files and DNS, and a call that hangs keeps one. One serves the file systems that can hang, two
 * serve the others, one stays free. Like the threads, these and the paths that hang belong to the process.
 */
const LANES = { ofHanging: createLane(1), ofOthers: createLane(2) };
/** Global, because each part of the bundled CLI has a copy of this module: one makes the calls, another ends the process. */
const HANGING = Symbol.for("registrar.hanging-file-calls");
const globals: typeof globalThis & { [HANGING]?: Set<string> } = globalThis;
globals[HANGING] ??= new Set();
const hanging = globals[HANGING];
const table = { mounts: [] as readonly Mount[], validUntilMs: 0, wasRead: false };
/** The mount points of the first file systems that can hang. */
const first = new Set<string>();

/** Whether a call hangs. Then `process.exit` hangs, too, because Node waits for its threads. */
export const someCallHangs = (): boolean => hanging.size > 0;

/** The mount that contains a path; undefined if it is unknown. A symbolic link may lead to another. */
export function mountAt(path: string): ReturnType<typeof mountPlaceOf> {
  if (performance.now() >= table.validUntilMs) {
    table.mounts = readMounts() ?? table.mounts;
    table.validUntilMs = performance.now() + MOUNTS_VALID_MS;
    if (!table.wasRead) for (const mount of table.mounts) if (canHang(mount)) first.add(mount.mountPoint);
    table.wasRead = true;
  }
  return mountPlaceOf(path, table.mounts);
}

/**
 * Makes an asynchronous call on a path that another process controls. Rejects with ETIMEDOUT after 2 s, and at once if a call
 * on this path, or on one above it, hangs, or if a file system that can hang was mounted there since this process started. A
 * call that hangs is not cancelled: it may still take effect.
 */
export function callFileSystem<Value>(path: string, call: () => Promise<Value>): Promise<Value> {
  if ([...hanging].some((one) => isWithin(path, one))) return Promise.reject(timedOut(path));
  const mount = mountAt(path);
  const mayHang = mount !== undefined && canHang(mount);
  if (mayHang && !first.has(mount.mountPoint)) return Promise.reject(timedOut(path));
  const lane = mayHang ? LANES.ofHanging : LANES.ofOthers;
  return new Promise((resolve, reject) => {
    let phase: "waiting" | "running" | "over" = "waiting";
    const start = () => {
      phase = "running";
      const end = () => {
        phase = "over";
        clearTimeout(limit);
        hanging.delete(path);
        lane.leave();
      };
      call().finally(end).then(resolve, reject);
    };
    const giveUp = () => {
      if (phase === "over") return;
      if (phase === "running") hanging.add(path);
      else lane.cancel(start);
      reject(timedOut(path));
    };
    // One turn later: if JavaScript was busy, the answer may be there.
    const limit = setTimeout(() => setImmediate(giveUp), LIMIT_MS);
    lane.enter(start);
  });
}

/** The error of a call that hangs. */
export const timedOut = (path: string): Error =>
  Object.assign(new Error(`ETIMEDOUT: the file system of ${path} does not answer`), { code: "ETIMEDOUT" });

function createLane(threads: number) {
  let free = threads;
  const waiting = new Set<() => void>();
  const startNext = () => {
    for (const start of waiting) {
      if (free === 0) return;
      free--;
      waiting.delete(start);
      start();
    }
  };
  return {
    enter: (start: () => void): void => {
      waiting.add(start);
      startNext();
    },
    cancel: (start: () => void): void => void waiting.delete(start),
    leave: (): void => {
      free++;
      startNext();
    },
  };
}
