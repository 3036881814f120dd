import { RegistrarError } from "../../errors";
import type { Protos } from "../../grpc/protos";
import type { Events, RegistrarEvent } from "../events";
import type { DriverRegistration } from "./registration";
import type { RegistrationOutcome } from "./registration-core";
import { checkRegistrationSocket, createCachedCheck, type SelfCheckAnswer } from "./self-check";
import type { RegistrationState, StateChange } from "./state";
import { createTally, type Tally } from "./tally";

/** Where a registration stands, at the moment of asking. */
export interface RegistrationStatus {
  readonly state: RegistrationState;
  /** The latest changes of state, oldest first, at most HISTORY_LENGTH. */
  readonly history: readonly StateChange[];
  /** Where the registration socket belongs, ours or a peer's; undefined before it was first published. */
  readonly registrationSocketPath: string | undefined;
  readonly tally: Tally;
}

/** A driver's registration with kubelet while it runs, in the hands of its owner. */
export interface Registration extends AsyncDisposable {
  status(): RegistrationStatus;
  /**
   * Walks kubelet's own path over our registration socket, within `timeoutMs`. One walk at a time, and its answer
   * serves everybody for a second. Healthy as long as there is no socket to check: the driver is still waited for.
   */
  selfCheck(): Promise<SelfCheckAnswer>;
  /** Calls `listener` for everything that happens from now on; returns what ends that. */
  subscribe(listener: (event: RegistrarEvent) => void): () => void;
  /**
   * Resolves when kubelet first says that the driver is registered. Rejects with a RegistrarError when the registration
   * ends before: REFUSED with kubelet's words, ABORTED where it was closed, or what it failed with. Nobody has to look.
   */
  readonly ready: Promise<void>;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /** Deregisters: removes our socket, lets running calls finish for at most 2 s. Always the same promise. */
  close(): Promise<RegistrationOutcome>;
}

/** What a handle is made of besides the registration. */
export interface RegistrationHandleContext {
  readonly events: Events<RegistrarEvent>;
  readonly protos: Protos;
  /** Bounds each self-check. Milliseconds. */
  readonly timeoutMs: number;
  /** Closes the registration when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Ends what else serves the registration, when that has ended. Never rejects. */
  readonly release?: () => Promise<void>;
}

/** Puts a registration into the hands of its owner. */
export function createRegistrationHandle(
  registration: DriverRegistration,
  { events, protos, timeoutMs, signal, release }: RegistrationHandleContext,
): Registration {
  const tally = createTally();
  events.subscribe(tally.count);

  const close = () => {
    void registration.close({ kind: "stopped" }, "stopped");
    return closed;
  };
  const abort = () => void close();
  signal?.addEventListener("abort", abort, { once: true });
  const closed = registration.closed.then(async (outcome) => {
    signal?.removeEventListener("abort", abort);
    await release?.();
    return outcome;
  });

  const selfCheck = createCachedCheck(async (): Promise<SelfCheckAnswer> => {
    const { socketPath, driverName } = registration;
    if (socketPath === undefined || driverName === undefined) return { status: 200, body: "ok" };
    return checkRegistrationSocket({ socketPath, driverName, timeoutMs }, protos);
  });

  return {
    status: () => ({
      state: registration.machine.state,
      history: registration.machine.history,
      registrationSocketPath: registration.socketPath,
      tally: tally.current,
    }),
    selfCheck,
    subscribe: events.subscribe,
    ready: untilRegistered(events, closed),
    closed,
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** Why a registration that ended with this outcome did not come to what was hoped for. */
export function errorOf(outcome: RegistrationOutcome): RegistrarError {
  switch (outcome.kind) {
    case "stopped":
      return new RegistrarError("ABORTED", "closed before kubelet had registered the driver");
    case "refused":
      return new RegistrarError("REFUSED", `kubelet refused the driver: ${outcome.error}`);
    case "failed":
      return outcome.error;
    default:
      return outcome satisfies never;
  }
}

function untilRegistered(
  events: Events<RegistrarEvent>,
  closed: Promise<RegistrationOutcome>,
): Promise<void> {
  const registered = new Promise<void>((resolve, reject) => {
    const unsubscribe = events.subscribe((event) => {
      if (event.kind !== "state-changed" || event.change.to !== "registered") return;
      unsubscribe();
      resolve();
    });
    void closed.then((outcome) => {
      unsubscribe();
      reject(errorOf(outcome));
    });
  });
  registered.catch(() => {}); // Unless somebody waits, nothing is unhandled here: `closed` tells the same.
  return registered;
}
