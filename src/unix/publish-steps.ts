import { isUnknown, type SocketFound } from "./unix-socket";

// What we do to the file system, in an order that kubelet and other registrars may see at each step. The caller carries out
// each step and answers it; test/exploration has everything happen between any two.

/** `judge` is answered with what is at the path; during `settle` another registrar may go on. */
export type LookStep = "judge" | "settle";

/**
 * A look at a path. A registrar that starts leaves it empty, and then its socket dead, for a moment: the official one removes
 * what it finds, binds, and listens. So what is gone or dead counts when it is the same after a while.
 */
export function* lookSteps(): Generator<LookStep, SocketFound, unknown> {
  for (let before: SocketFound | undefined; ; yield "settle") {
    const found = (yield "judge") as SocketFound;
    if ((found !== "gone" && found !== "dead") || found === before) return found;
    before = found;
  }
}

/**
 * `link` is answered with whether the name was free, `renameIfSame` with whether what was judged was still there, `isPlace`
 * with whether our socket still belongs at the path.
 */
export type PublishStep =
  | LookStep
  | "bind"
  | "isPlace"
  | "withdrawOther"
  | "link"
  | "wait"
  | "renameIfSame"
  | "rename";

export interface PublishRules {
  /** Replaces a socket on which another process listens, too. */
  readonly overLiving: boolean;
  /** Does not wait for kubelet's plugin watcher, which looks at registration sockets only. */
  readonly atOnce?: boolean;
}

/** How a publication ended: `taken` by another process, `elsewhere` where our socket does not belong there any more. */
export type PublishEnd =
  | { readonly kind: "in-place"; readonly found: SocketFound }
  | { readonly kind: "taken" }
  | { readonly kind: "elsewhere" };

type StepsEnd = PublishEnd | { readonly kind: "blocked" } | { readonly kind: "unknown" };

/**
 * Puts a bound and listening socket at a path.
 *
 * If the name is free, ours is linked there, and its dot-name removed later: kubelet logs an error if a file from an
 * inotify event is away. Else ours is renamed over the old file after a wait, so that kubelet sees one Create event. Our
 * socket at another path is withdrawn right before: at kubelet the end of one of two sockets deregisters the driver for both.
 */
export function* publishSteps({
  overLiving,
  atOnce,
}: PublishRules): Generator<PublishStep, StepsEnd, unknown> {
  for (let isBound = false; ; isBound = true) {
    const found = overLiving ? ((yield "judge") as SocketFound) : yield* lookSteps();
    if (isUnknown(found)) return { kind: "unknown" };
    if (found === "blocked" || (found === "taken" && !overLiving)) return { kind: found };
    if (!isBound) yield "bind";
    yield "withdrawOther";
    if (!(yield "isPlace")) return { kind: "elsewhere" };
    if (!atOnce) {
      if (yield "link") return { kind: "in-place", found };
      yield "wait";
      if (!(yield "isPlace")) return { kind: "elsewhere" };
    }
    if (overLiving) {
      yield "rename";
      return { kind: "in-place", found };
    }
    if (yield "renameIfSame") return { kind: "in-place", found };
  }
}

/** How our socket goes: the file first, because it is known as ours only while we listen on it. */
export const WITHDRAW_STEPS = ["removeFile", "stopListening"] as const;
