import { systemError } from "../base/errors";
import { startTimer, stopTimer } from "../base/pause";
import { canHang, isWithin, type Mount, mountPlaceOf, readMounts } from "./mounts";

/**
 * A call that takes longer counts as hanging: four parts of 500 ms. Time in which this process did not run, stopped or without
 * a CPU, ends one of them at most, and after it the answer has the time of the next.
 */
const LIMIT_PARTS = 4;
const PART_MS = 500;
/** How long the mount table is kept, in milliseconds, so that a burst of calls reads it once. */
const MOUNTS_VALID_MS = 10;

/**
 * Node has four threads for files and DNS, and a call that hangs keeps one. One serves the file systems that can hang, two
 * serve the others, one stays free. Like the threads, these and the paths that hang belong to the process.
 */
const LANES = { ofHanging: createLane(1), ofOthers: createLane(2) };
const hanging = new Set<{ readonly path: string }>();
const table = { mounts: undefined as readonly Mount[] | undefined, validUntilMs: 0 };
/** The mount points of the first file systems that can hang. */
const first = new Set<string>();

/** Whether a call hangs. Then `process.exit` hangs, too, because Node waits for its threads. */
export const someCallHangs = (): boolean => hanging.size > 0;

/** The calls that have neither ended nor count as hanging. */
const running = new Set<Promise<unknown>>();

/** Resolves when each call has ended or counts as hanging, so that `someCallHangs` says whether `process.exit` would return. */
export async function untilCallsSettle(): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running);
}

const hangsAt = (path: string) => [...hanging].some((one) => isWithin(path, one.path));

/** All mounts, as they were in the last 10 ms; none if they are unknown. */
function recentMounts(): readonly Mount[] {
  if (performance.now() >= table.validUntilMs) {
    const mounts = readMounts() ?? table.mounts;
    if (!table.mounts) for (const mount of mounts ?? []) if (canHang(mount)) first.add(mount.mountPoint);
    table.mounts = mounts;
    table.validUntilMs = performance.now() + MOUNTS_VALID_MS;
  }
  return table.mounts ?? [];
}

/** The mount that contains a path; undefined if it is unknown. A symbolic link may lead to another. */
export const mountAt = (path: string): ReturnType<typeof mountPlaceOf> => mountPlaceOf(path, recentMounts());

/**
 * Makes an asynchronous call on a path that another process controls, as soon as a thread is free for it. Rejects with
 * ETIMEDOUT if it takes 2 s, and at once if a call on this path, or on one above it, hangs, if all threads do, or if a file
 * system that can hang was mounted there since this process started. A call that hangs is not cancelled: it may still take effect.
 */
export function callFileSystem<Value>(path: string, call: () => Promise<Value>): Promise<Value> {
  const answer = callInLane(path, call);
  const end = () => running.delete(answer);
  running.add(answer);
  answer.then(end, end);
  return answer;
}

async function callInLane<Value>(path: string, call: () => Promise<Value>): Promise<Value> {
  const mount = mountAt(path);
  const mayHang = mount !== undefined && canHang(mount);
  const isRefused = hangsAt(path) || (mayHang && !first.has(mount.mountPoint));
  const lane = mayHang ? LANES.ofHanging : LANES.ofOthers;
  if (isRefused || !(await lane.enter(path))) throw timedOut(path);
  return new Promise((resolve, reject) => {
    const one = { path };
    let limit: NodeJS.Timeout | undefined;
    const countDown = (parts: number) => {
      limit = startTimer(parts > 0 ? countDown : giveUp, PART_MS, parts - 1); // Not fake ones: the file system is real.
    };
    const giveUp = () => {
      hanging.add(one);
      lane.stall();
      reject(timedOut(path));
    };
    countDown(LIMIT_PARTS - 1);
    const end = () => {
      stopTimer(limit);
      lane.leave(hanging.delete(one));
    };
    call().finally(end).then(resolve, reject);
  });
}

export const timedOut = (path: string): Error =>
  systemError("ETIMEDOUT", `ETIMEDOUT: the file system of ${path} does not answer`);

function createLane(threads: number) {
  let free = threads;
  let hung = 0;
  const waiting = new Map<(hasThread: boolean) => void, string>();
  const goOn = () => {
    for (const [answer, path] of waiting) {
      if (free === 0 && hung < threads) return;
      waiting.delete(answer);
      const hasThread = free > 0 && !hangsAt(path);
      if (hasThread) free--;
      answer(hasThread);
    }
  };
  return {
    /** Waits for a free thread, and takes it. False where every thread hangs, or a call at the path or above it. */
    enter: (path: string): Promise<boolean> =>
      new Promise((resolve) => {
        waiting.set(resolve, path);
        goOn();
      }),
    stall: (): void => {
      hung++;
      goOn();
    },
    leave: (wasHung: boolean): void => {
      free++;
      if (wasHung) hung--;
      goOn();
    },
  };
}
