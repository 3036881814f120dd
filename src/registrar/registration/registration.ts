import type { EventSource, Events } from "../../base/event-source";
import type { GuardedClient } from "../../grpc/guard/guards";
import { createGrpcServer } from "../../grpc/server";
import type { Logger } from "../../logging/logger";
import { hasStoodStill } from "../../unix/directory-poll";
import { createSocketFile, type SocketFile } from "../../unix/socket-file";
import type { RegistrationEvent } from "../model/events";
import { createInbox, type Inbox } from "../model/inbox";
import type { PluginType, ResolvedOptions } from "../model/options";
import { errorOf, type RegistrationOutcome } from "../model/outcome";
import type { LoopEvent, RegistrationState } from "../model/state";
import type { DriverHealth, DriverStatus } from "../model/status";
import { infoAnswer, statusEvent } from "./decisions";
import { createKubeletClients, type KubeletClients } from "./kubelet-clients";
import { runLoop } from "./loop";
import { createRegistrationService, type RegistrationCalls } from "./registration-service";
import { checkRegistrationSocket, createCachedCheck, createKeptAsk, type SelfCheck } from "./self-check";
import { transition } from "./transition";
import { createView, type RegistrationView } from "./view";

/** One driver's registration with kubelet while it runs. */
export interface Registration extends AsyncDisposable, Events<RegistrationEvent> {
  /** The name that is registered; undefined before the driver has told one that this registrar accepts (`status().identity`). */
  readonly name: string | undefined;
  /** What kubelet registers it as. */
  readonly type: PluginType;
  /** The driver's socket as kubelet sees it. */
  readonly endpoint: string;
  /** The CSI driver socket as this process sees it; undefined for `startRegistration()`, which does not call the driver. */
  readonly csiAddress: string | undefined;
  /** The plugin registration directory, where our socket goes. */
  readonly pluginRegistrationPath: string;
  /** Where the registration stands, at this moment. */
  status(): DriverStatus;
  /**
   * Walks kubelet's own path over our registration socket, within `timeoutMs`. One walk at a time; its answer holds for
   * a second. `ok` while there is no socket to check: before the driver has answered, and while a refusal lasts; never after
   * the end.
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
  /** The same, without letting running calls finish; also during `close()`. */
  destroy(): Promise<RegistrationOutcome>;
}

export interface RegistrationParts {
  readonly driver: {
    /** Puts what happens to the driver into the inbox, until `signal` is aborted. Never rejects. */
    follow(inbox: Inbox<LoopEvent>, signal: AbortSignal): Promise<void>;
    status(): DriverHealth;
  };
  readonly events: EventSource<RegistrationEvent>;
  readonly log: Logger;
  readonly signal?: AbortSignal | undefined;
}

interface KubeletParts {
  readonly inbox: Inbox<LoopEvent>;
  readonly kubelet: KubeletClients;
}

/** Assembles the registration of one driver from its parts, and starts its loop in state `waiting`. */
export function startRegistrationLoop(options: ResolvedOptions, parts: RegistrationParts): Registration {
  const { driver, events, log, signal } = parts;
  const inbox = createInbox<LoopEvent>();
  const view = createView(options, driver, events);
  events.subscribe(options.onEvent);
  const kubelet = createKubeletClients();
  const calls = answerKubelet(view, options, { inbox, kubelet, events, log }, () => server.silent);
  const server = createGrpcServer({ log, newServer: createRegistrationService(options, calls, log) });
  const socket = createSocketFile(server.accept, log);
  const context = { options, log, server, socket, kubelet, onUnpublished: view.onUnpublished };

  const stopFollowing = new AbortController();
  const stop = () => inbox.put({ kind: "stop", outcome: { kind: "stopped" } });
  signal?.addEventListener("abort", stop, { once: true });
  const following = driver.follow(inbox, stopFollowing.signal);
  const run = async () => {
    const end = await runLoop(context, inbox, view.onTransition);
    signal?.removeEventListener("abort", stop);
    stopFollowing.abort();
    await following;
    events.end();
    return end;
  };
  const closed = run();
  const close = () => {
    stop();
    return closed;
  };

  return {
    get name() {
      return view.driverName;
    },
    type: options.type,
    endpoint: options.endpoint,
    csiAddress: options.csiAddress,
    pluginRegistrationPath: options.pluginRegistrationPath,
    status: view.status,
    selfCheck: createSelfCheck(view, options, socket.publicationOf),
    ...events.forListeners,
    ready: whenReady(events, closed, signal),
    closed,
    reregister: createReregister(view, inbox),
    close,
    destroy: () => {
      server.destroy();
      return close();
    },
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** Answers kubelet's calls, and hands them to the loop. */
function answerKubelet(
  view: RegistrationView,
  { onRegistrationFailure }: ResolvedOptions,
  { inbox, kubelet, events, log }: Pick<RegistrationParts, "events" | "log"> & KubeletParts,
  countStandbys: () => number,
): RegistrationCalls {
  return {
    report: () => ({ name: view.driverName ?? "", report: view.report(countStandbys()) }),
    answer: (publication) =>
      infoAnswer(view.state, {
        isWithdrawn: publication?.withdrawn.aborted !== false,
        isOwn: publication?.path === view.socketPath(),
      }),
    onCall: (call, { publication, client }) => {
      if (call.kind === "registration-status") kubelet.reported(client);
      else if (kubelet.isKubelet(client)) kubelet.asked(client, publication?.path ?? "");
      else return log.v(2).info("GetInfo of a client that is not kubelet was answered");
      // It is about another publication, perhaps of another name.
      if (publication?.withdrawn.aborted) {
        log.info("Kubelet's call came over a socket that is no longer ours, ignored", { call: call.kind });
        return;
      }
      // First, so that kubelet's call counts before a listener's close().
      const event = call.kind === "get-info" ? call : statusEvent(onRegistrationFailure, call);
      inbox.put(event);
      events.emit(call);
    },
    onEnd: ({ publication, client }) => {
      kubelet.ended(client);
      // Also over a socket that was replaced: kubelet backs off by path.
      if (publication === undefined || publication.path !== view.socketPath()) return;
      if (!isMissed(client, kubelet, publication.path)) return;
      log.v(2).info("A client that may be kubelet ended its connection before it was answered");
      inbox.put({ kind: "get-info" });
    },
  };
}

/** A process that was frozen finds calls that were given up, and dials: kubelet calls when it has our HTTP/2 settings. */
function isMissed(client: GuardedClient, kubelet: KubeletClients, path: string): boolean {
  const { calls, socket } = client;
  if (calls.everCalled()) return !calls.everAnswered() && kubelet.isLikely(client, path);
  return socket.bytesRead > 0 && hasStoodStill();
}

function createSelfCheck(
  view: RegistrationView,
  { timeoutMs }: ResolvedOptions,
  publicationOf: SocketFile["publicationOf"],
) {
  const ask = createKeptAsk(publicationOf);
  const check = createCachedCheck(async (): Promise<SelfCheck> => {
    const own = view.ownSocket();
    return own ? checkRegistrationSocket(own.path, own.name, timeoutMs, ask) : { kind: "ok" };
  });
  return async (): Promise<SelfCheck> =>
    view.state.kind !== "stopped" ? check() : { kind: "missing", text: "the registration has ended" };
}

function createReregister(view: RegistrationView, inbox: Inbox<LoopEvent>) {
  /** In the state after it, it has begun, or waits for kubelet. */
  let requestedIn: RegistrationState | undefined;
  return () => {
    const { state } = view;
    const event: LoopEvent = { kind: "reregister" };
    const next = transition(state, event, { nowMs: 0, random: 0 });
    if (requestedIn === state || next === state || next.kind !== "publishing") return false;
    requestedIn = state;
    inbox.put(event);
    return true;
  };
}

function whenReady(
  events: EventSource<RegistrationEvent>,
  closed: Promise<RegistrationOutcome>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    events.subscribe("state-changed", ({ change }) => change.to === "registered" && resolve());
    closed.then((end) => reject(errorOf(end, signal?.reason)), reject);
  });
  ready.catch(() => {}); // Not an unhandled rejection if no caller waits: `closed` has the same outcome.
  return ready;
}
