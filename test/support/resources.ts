import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../../src/base/errors";
import { eventually } from "./eventually";

/** Fails unless each handle, timer, request and inotify watch that `use` led to is gone soon after; Node counts no watches. */
export async function expectNothingLeft(use: () => Promise<void>): Promise<void> {
  const before = process.getActiveResourcesInfo();
  const watchesBefore = countInotifyWatches();
  await use();
  const left = () => {
    const more = process.getActiveResourcesInfo();
    for (const kind of before) if (more.includes(kind)) more.splice(more.indexOf(kind), 1);
    return more;
  };
  // What a timer is for was stopped: it does not end by itself, as one of some seconds would.
  await eventually(() => expect(left().filter((kind) => kind === "Timeout")).toEqual([]), { limitMs: 1_000 });
  await eventually(() => {
    expect(left()).toEqual([]);
    // Fewer, where the kernel had not yet dropped those of folders that were removed before.
    expect(countInotifyWatches()).toBeLessThanOrEqual(watchesBefore);
  });
}

/** The inotify watches of a process, this one unless told, as Linux lists them; 0 elsewhere. */
export function countInotifyWatches(pid: number | "self" = "self"): number {
  if (!existsSync(`/proc/${pid}/fdinfo`)) return 0;
  const watchesOf = (fd: string) =>
    readlinkSync(`/proc/${pid}/fd/${fd}`) === "anon_inode:inotify" &&
    readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8").match(/^inotify /gm);
  // The descriptor by which the list was read is gone.
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => attempt(() => watchesOf(fd)) || []).length;
}
