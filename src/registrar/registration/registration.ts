import type { EventSource, Events } from "../../base/event-source";
import { startGrpcServer } from "../../grpc/server";
import type { Logger } from "../../logging/logger";
import { createSocketFile } from "../../unix/socket-file";
import type { RegistrarEvent } from "../model/events";
import { createInbox, type Inbox } from "../model/inbox";
import { errorOf, type RegistrationOutcome } from "../model/outcome";
import type { LoopEvent, RegistrationState, StateChange } from "../model/state";
import { type DriverHealth, type DriverStatus, type DriverTrouble, reasonOf } from "../model/status";
import { createTally } from "../model/tally";
import { type RegistrationContext, type RegistrationLoopOptions, socketPathOf } from "./context";
import { meansPeer } from "./hints";
import { runRegistration } from "./loop";
import { createRegistrationServers, type RegistrationServiceOptions } from "./registration-service";
import { checkRegistrationSocket, createCachedCheck, type SelfCheck } from "./self-check";
import { isStateChange, mayReregister } from "./transition";

/** One driver's registration with kubelet while it runs. */
export interface Registration extends AsyncDisposable, Events<RegistrarEvent> {
  /** The name that is registered; undefined before the driver has told one that this registrar accepts (`status().identity`). */
  readonly name: string | undefined;
  /** Every default filled in. */
  readonly options: RegistrationLoopOptions;
  /** The driver's socket as kubelet sees it; the same as `kubeletRegistrationPath`. */
  readonly endpoint: string;
  /** The CSI driver socket as this process sees it; undefined where the driver runs in this process. */
  readonly csiAddress: string | undefined;
  /** The same socket as kubelet sees it; kubelet gets it as the driver's endpoint. */
  readonly kubeletRegistrationPath: string;
  /** The plugin registration directory, where our socket goes. */
  readonly pluginRegistrationPath: string;
  status(): DriverStatus;
  /**
   * Walks kubelet's own path over our registration socket, within `timeoutMs`. One walk at a time; its answer holds for
   * a second. `ok` before there is a socket to check, while the driver has not answered; never after the end.
   */
  selfCheck(): Promise<SelfCheck>;
  /**
   * Resolves when kubelet first says that the driver is registered. Rejects with a RegistrarError when the registration
   * ends before: REFUSED with kubelet's words, ABORTED where it was closed, or what it failed with. A caller may ignore it.
   */
  readonly ready: Promise<void>;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /**
   * Publishes our socket anew, so that kubelet deregisters the driver, registers it from the start and writes CSINode;
   * at kubelet it is gone for a second or two. Does nothing, and answers false, unless kubelet has registered the driver and
   * is not asking again, or while that is under way. If kubelet begins to ask at this moment, it happens when kubelet has decided.
   */
  reregister(): boolean;
  /** Deregisters: removes our socket, lets running calls finish for at most 2 s. Always the same promise. */
  close(): Promise<RegistrationOutcome>;
}

export const HISTORY_LENGTH = 50;

export interface RegistrationParts {
  readonly csiAddress?: string | undefined;
  readonly driver: {
    /** Puts what happens to the driver into the inbox, until `signal` is aborted. Never rejects. */
    follow(inbox: Inbox<LoopEvent>, signal: AbortSignal): Promise<void>;
    status(): DriverHealth;
  };
  readonly events: EventSource<RegistrarEvent>;
  readonly log: Logger;
  readonly signal?: AbortSignal | undefined;
}

/** Starts the registration of one driver, in state `waiting`. */
export function openRegistration(options: RegistrationLoopOptions, parts: RegistrationParts): Registration {
  const { events, log, signal } = parts;
  const inbox = createInbox<LoopEvent>();
  const tally = createTally();
  events.subscribe(tally.count);
  events.subscribe(options.onEvent);
  let state: RegistrationState = { kind: "waiting" };
  let isReregistering = false;
  let history: readonly StateChange[] = [];
  let outcome: RegistrationOutcome | undefined;
  const startedAt = Date.now();
  const facts = () => ("facts" in state ? state.facts : undefined);

  /** A call over a socket that was replaced since is about another publication, perhaps of another name. */
  const onCall = (publication: AbortSignal | undefined, call: RegistrarEvent, event: LoopEvent) => {
    if (publication?.aborted) {
      log.info("Kubelet's call came over a socket that was replaced since, ignored", { call: call.kind });
      return;
    }
    // First, so that kubelet's call counts before a listener's close().
    inbox.put(event, publication);
    events.emit(call);
  };

  const service: RegistrationServiceOptions = {
    ...options,
    driverName: () => facts()?.driverName ?? "",
    // From 1.36 on kubelet tries a refused socket again at its own pace: each try would cost calls at the API server.
    whyNot: () =>
      state.kind === "refused" ? "kubelet refused the driver, the next try comes later" : undefined,
    report: () => {
      const now = status();
      return {
        state: now.state,
        since: history.at(-1)?.at ?? startedAt,
        reason: reasonOf(now),
        refusal: now.tally.refusal,
        hasKubeletCalled: now.tally.getInfoCalls > 0,
        standbys: server.silent, // A client calls at once.
      };
    },
    onGetInfo: (publication) => onCall(publication, { kind: "asked" }, { kind: "get-info" }),
    onRegistrationStatus: ({ pluginRegistered: registered, error }, publication) => {
      // With policy `retry` we stand by for a peer that registered the driver under another path.
      const isPeer = options.onRegistrationFailure === "retry" && meansPeer(error);
      const refusal = { kind: isPeer ? "already-registered" : "refused", error } as const;
      onCall(
        publication,
        { kind: "notified", registered, error },
        registered ? { kind: "accepted" } : refusal,
      );
    },
  };
  const server = startGrpcServer({ log, newServer: createRegistrationServers(service, log) });
  const socket = createSocketFile(server.accept, log);
  let unpublished: DriverTrouble | undefined;
  const onUnpublished = (reason: string) => {
    unpublished = { kind: "not-published", text: `cannot publish the registration socket: ${reason}` };
  };
  const context: RegistrationContext = { options, log, server, socket, onUnpublished };

  const onTransition = (next: RegistrationState, event: LoopEvent, from: RegistrationState) => {
    state = next;
    isReregistering = "again" in next && next.again !== undefined;
    unpublished = undefined;
    if (event.kind === "published" && from.kind === "publishing")
      events.emit({ kind: "published", socketPath: event.socketPath, reason: from.reason });
    if (!isStateChange(from, next)) return;
    const change: StateChange = { from: from.kind, to: next.kind, event, at: Date.now() };
    history = [...history, change].slice(-HISTORY_LENGTH);
    events.emit({ kind: "state-changed", change });
  };

  const stopFollowing = new AbortController();
  const stop = () => inbox.put({ kind: "stop", reason: "stopped", outcome: { kind: "stopped" } });
  signal?.addEventListener("abort", stop, { once: true });
  const following = parts.driver.follow(inbox, stopFollowing.signal);
  const closed = runRegistration(context, inbox, onTransition).then(async (end) => {
    outcome = end;
    signal?.removeEventListener("abort", stop);
    stopFollowing.abort();
    await following;
    events.end();
    return end;
  });
  const close = () => {
    stop();
    return closed;
  };

  const status = (): DriverStatus => {
    const known = facts();
    const driver = parts.driver.status();
    return {
      ...driver,
      trouble: driver.trouble ?? unpublished,
      state: state.kind,
      history: [...history],
      registrationSocketPath: known?.everPublished ? socketPathOf(known, context) : undefined,
      tally: tally.current,
      outcome,
    };
  };
  const cachedCheck = createCachedCheck(async (): Promise<SelfCheck> => {
    const known = facts();
    if (!known?.everPublished) return { kind: "ok" };
    return checkRegistrationSocket(socketPathOf(known, context), known.driverName, options.timeoutMs);
  });
  const selfCheck = async (): Promise<SelfCheck> =>
    outcome === undefined ? cachedCheck() : { kind: "missing", text: "the registration has ended" };

  const ready = new Promise<void>((resolve, reject) => {
    events.subscribe("state-changed", ({ change }) => change.to === "registered" && resolve());
    closed.then((end) => reject(errorOf(end, signal?.reason)), reject);
  });
  ready.catch(() => {}); // Not an unhandled rejection if no caller waits: `closed` has the same outcome.

  return {
    get name() {
      return facts()?.driverName;
    },
    options,
    endpoint: options.kubeletRegistrationPath,
    csiAddress: parts.csiAddress,
    kubeletRegistrationPath: options.kubeletRegistrationPath,
    pluginRegistrationPath: options.pluginRegistrationPath,
    status,
    selfCheck,
    ...events.forListeners,
    ready,
    closed,
    reregister: () => {
      if (isReregistering || !mayReregister(state)) return false;
      isReregistering = true;
      inbox.put({ kind: "reregister" });
      return true;
    },
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}
