import type { SocketFound } from "./unix-socket";

/**
 * What a publication does to the file system, in an order that kubelet and other registrars may watch at each step. The
 * caller answers each step: `judge` with what is at the path, `isSame` with whether that is still there, `link` with
 * whether the name was free.
 */
export type PublishStep = "judge" | "bind" | "withdrawOther" | "link" | "wait" | "isSame" | "rename";

export interface PublishRules {
  /** Replaces a socket on which another process listens, too. */
  readonly overLiving: boolean;
  /** Does not wait for kubelet's plugin watcher, which looks at registration sockets only. */
  readonly atOnce?: boolean;
}

/**
 * The steps that put a bound and listening socket at a path; returns what was there before. `taken`, without `overLiving`,
 * means that ours is not there.
 *
 * If the name is free, ours is linked there, and its dot-name removed later: kubelet logs an error if a file from an
 * inotify event is away. Else ours is renamed over the old file after a wait, so that kubelet sees one Create event. Our
 * socket at another path is withdrawn right before: at kubelet the end of one of two sockets deregisters the driver for both.
 */
export function* publishSteps({
  overLiving,
  atOnce,
}: PublishRules): Generator<PublishStep, SocketFound, unknown> {
  const before = (yield "judge") as SocketFound;
  if (before === "hanging" || before === "blocked") return before;
  if (before === "taken" && !overLiving) return before;
  yield "bind";
  yield "withdrawOther";
  if (!atOnce) {
    if (yield "link") return before;
    if (!overLiving && !(yield "isSame")) return "taken";
    yield "wait";
  }
  if (!overLiving && !(yield "isSame")) return "taken";
  yield "rename";
  return before;
}
