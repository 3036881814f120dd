import { BACKOFF, backoffMs, FIRST_REFUSALS } from "../../base/backoff";
import { errnoOf, RegistrarError } from "../../base/errors";
import { LONGEST_WAIT_MS } from "../../base/pause";
import { isShortage } from "../../unix/descriptors";
import type { PublishEnd } from "../../unix/publish-steps";
import { mayBeOurs, type SocketFound } from "../../unix/unix-socket";
import type { ResolvedOptions } from "../model/options";
import { aliasInUse, type SocketOfDriver } from "../model/socket-name";
import {
  type DriverFacts,
  type LoopEvent,
  type RegistrationState,
  type StateOf,
  stateNameOf,
} from "../model/state";

// What a registration decides, without I/O: the states' activities carry it out, and test/exploration tries every order of it.

/**
 * What a publication may do. The newest registrar wins: at first, and under a new name, it replaces a living socket, as in a
 * rolling update. A node-wide registrar never does. A sidecar's first failure is fatal, as at the official registrar.
 */
export function planPublication({ facts, reason }: StateOf<"publishing">, isNodeWide: boolean) {
  const isFirst = !facts.everPublished;
  const isNewName = isFirst || reason === "driver-renamed";
  return {
    /** Whether another registrar may have published the driver under an alias, which this one must use, too. */
    isNewName,
    /** After a refusal kubelet decides: it refuses again while it has the driver by another registrar's socket. */
    mayBeBeside: reason === "retry",
    overLiving: isNewName && !isNodeWide,
    failureIsFatal: isFirst && reason !== "peer-gone" && !isNodeWide,
  };
}

type PublicationPlan = ReturnType<typeof planPublication>;

/** Under which alias our socket goes, and whether another registrar of the driver lives there, to which we give way. */
export interface SocketPlace {
  readonly alias: string | undefined;
  readonly isHeld: boolean;
}

/**
 * The place of our socket. Under a new name it is where another registrar has, or had, the driver; later the one that we have
 * (`ours`), unless another registrar lives elsewhere: kubelet refuses a second path (csi_plugin.go, validateVersions).
 */
export function choosePlace(
  { isNewName, mayBeBeside }: Pick<PublicationPlan, "isNewName" | "mayBeBeside">,
  sockets: readonly SocketOfDriver[],
  ours: string | undefined,
): SocketPlace {
  if (isNewName) return { alias: aliasInUse(sockets), isHeld: false };
  const elsewhere = sockets.find(([alias, found]) => found === "taken" && alias !== ours);
  return elsewhere && !mayBeBeside ? { alias: elsewhere[0], isHeld: true } : { alias: ours, isHeld: false };
}

/** The event after a publication; undefined where our socket belongs elsewhere by now, and has to choose its place anew. */
export function publicationEvent(
  end: PublishEnd,
  socketPath: string,
  alias: string | undefined,
  now: SocketPlace,
): LoopEvent | undefined {
  if (end.kind === "in-place") return { kind: "published", socketPath, alias, found: end.found };
  if (end.kind === "taken") return { kind: "socket-taken", alias };
  return now.isHeld ? { kind: "socket-taken", alias: now.alias } : undefined;
}

/**
 * The event after the look that follows a publication, with our socket in place at the alias `ours`: this process may have been
 * frozen since the look before it, and another registrar live elsewhere by now.
 */
export function placementEvent(
  plan: Pick<PublicationPlan, "isNewName" | "mayBeBeside">,
  sockets: readonly SocketOfDriver[],
  ours: string | undefined,
): LoopEvent {
  const others = sockets.filter(([alias, found]) => found === "taken" && alias !== ours);
  const { alias, isHeld } =
    others.length > 0 ? choosePlace(plan, others, ours) : { alias: ours, isHeld: false };
  if (alias === ours) return { kind: "well-placed" };
  return isHeld ? { kind: "socket-taken", alias } : { kind: "misplaced" };
}

/** Whether a failed publication ends the registration: not if descriptors, memory or the file system may recover. */
export function endsRegistration({ failureIsFatal }: PublicationPlan, error: unknown): boolean {
  if (!(error instanceof RegistrarError)) return true;
  const mayPass = isShortage(error.cause) || errnoOf(error.cause) === "ETIMEDOUT";
  return failureIsFatal && !mayPass;
}

/** The longest that kubelet may be between GetInfo and its status: NodeGetInfo has 2 min (csi_plugin.go), and slack. */
export const KUBELET_BUSY_MS = 150_000;

/** Kubelet's reconcile loop runs each second: no call for this long, after a publication, may mean backoff. */
export const MOVE_AFTER_MS = 2_500;

/** What is seen while our socket is in place. Times are milliseconds of `performance.now()`. */
export interface Look {
  readonly found: SocketFound;
  readonly hasDirectory: boolean;
  readonly nowMs: number;
  /** When the state began. */
  readonly sinceMs: number;
  /** A number from 0 to 1, the same in each look of a state: the jitter of its waits. */
  readonly random: number;
  readonly kubelet: {
    /** Whether a connection is open over which kubelet called GetInfo, and owes its status. */
    readonly isAsking: boolean;
    /** Whether that is kubelet for sure: it has reported a status before. */
    readonly isKnown: boolean;
    /** When the last such connection ended. */
    readonly endedAtMs: number;
  };
}

/** Nothing to do now: look again when something changes, and after `ms` at the latest. */
interface Wait {
  readonly kind: "wait";
  readonly ms: number;
}

/**
 * What to do while our socket is in place: publish again because it is gone or dead, stand by because it is taken, register
 * the driver anew, give up a status that was lost, move away from kubelet's backoff, or nothing.
 *
 * To publish again costs a deregistration and a registration at kubelet, so nothing is done while kubelet is between GetInfo
 * and its registration status (NodeGetInfo may hang for minutes, kubernetes#138170).
 */
export function judgeInPlace(
  state: StateOf<"in-place">,
  { found, hasDirectory, nowMs, sinceMs, random, kubelet }: Look,
): LoopEvent | Wait {
  const { facts, askedAtMs, again } = state;
  const until = (ms: number): Wait => ({ kind: "wait", ms: ms - nowMs });
  const busyUntilMs = (askedAtMs ?? sinceMs) + KUBELET_BUSY_MS;
  const isBusy = kubelet.isAsking && nowMs < busyUntilMs;
  if (found === "taken") return { kind: "socket-taken", alias: facts.alias };
  if (isBusy && askedAtMs !== undefined) return until(busyUntilMs);
  if (found === "dead") return { kind: "socket-dead" };
  // A file of another kind counts as gone.
  if (!mayBeOurs(found)) return { kind: hasDirectory ? "socket-gone" : "directory-gone" };
  if (again) return { kind: again, kubeletIsIdle: true };
  // While kubelet has its connection, nothing is lost. A client that may be another is not waited for for ever.
  if (kubelet.isAsking && kubelet.isKnown) return WAIT_FOR_A_CHANGE;
  if (isBusy) return until(busyUntilMs);
  if (askedAtMs !== undefined) {
    const lostAtMs = Math.max(askedAtMs, kubelet.endedAtMs) + statusLostAfterMs(facts, random);
    return nowMs < lostAtMs ? until(lostAtMs) : { kind: "status-lost" };
  }
  if (stateNameOf(state) !== "listening" || facts.backoff === "none") return WAIT_FOR_A_CHANGE;
  // Once kubelet was busy with the driver, only its longest NodeGetInfo tells the two apart.
  const afterMs = facts.backoff === "possible" ? MOVE_AFTER_MS : KUBELET_BUSY_MS;
  const movesAtMs = Math.max(sinceMs, kubelet.endedAtMs) + afterMs;
  return nowMs < movesAtMs ? until(movesAtMs) : { kind: "kubelet-silent", alias: undefined };
}

const WAIT_FOR_A_CHANGE: Wait = { kind: "wait", ms: LONGEST_WAIT_MS };

/**
 * How long after the end of kubelet's connection its status counts as lost. Kubelet up to 1.35 reports a status once; if this
 * process is frozen for those 5 s, kubelet never tells it again. Grows from loss to loss until a status comes: before the first
 * one, a client that calls GetInfo may not be kubelet, and each loss costs a registration. Has a random share, because nodes
 * may be frozen together.
 */
export const statusLostAfterMs = ({ lostStatuses }: DriverFacts, random: number): number =>
  backoffMs(BACKOFF.lostStatus, lostStatuses, () => random);

/**
 * The event after kubelet reported its status. Kubelet's text says "higher version" for an equal one too, and for a driver whose
 * NodeGetInfo is not over, which it keeps before that call (csi_plugin.go, validateVersions, RegisterPlugin).
 */
export function statusEvent(
  policy: ResolvedOptions["onRegistrationFailure"],
  { registered, error }: { readonly registered: boolean; readonly error: string },
): LoopEvent {
  if (registered) return { kind: "accepted" };
  const meansPeer = error.includes("already registered with a higher supported version");
  return meansPeer
    ? { kind: "already-registered", error, isFinal: policy !== "retry" }
    : { kind: "refused", error };
}

/** How many milliseconds after a refusal, the `count`th, policy `retry` publishes again. */
export function refusalPauseMs(count: number, random: number): number {
  const later = count - 1 - FIRST_REFUSALS;
  const [pace, nth] = later < 0 ? [BACKOFF.refused, count - 1] : [BACKOFF.refusedForLong, later];
  return Math.round(backoffMs(pace, nth, () => random));
}

/** Whether standby ends after a look at the peer's path: it does not last for a file of another kind in its place. */
export const peerIsGone = (found: SocketFound): boolean => ["gone", "dead", "blocked"].includes(found);

/**
 * The answer to a GetInfo that came over a socket: the driver's name, or why it is refused. A call over a socket that was
 * replaced or withdrawn is about another publication: kubelet would register this name by that path.
 */
export function infoAnswer(
  state: RegistrationState,
  publication: { readonly isWithdrawn: boolean; readonly isOwn: boolean },
): { readonly name: string } | { readonly whyNot: string } {
  // From 1.36 on kubelet tries a refused socket again at its own pace: each try would cost calls at the API server.
  if (state.kind === "refused") return { whyNot: "kubelet refused the driver, the next try comes later" };
  if (publication.isWithdrawn || !publication.isOwn || !state.facts)
    return { whyNot: "this socket was replaced or withdrawn" };
  return { name: state.facts.driverName };
}
