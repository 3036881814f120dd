import { startGrpcAcceptor } from "../../grpc/acceptor";
import type { Protos } from "../../grpc/protos";
import type { Logger } from "../../logging/logger";
import type { Events, RegistrarEvent } from "../events";
import { meansPeer } from "./hints";
import {
  type DriverRegistrationOptions,
  failedBy,
  KUBELET_BUSY_MS,
  type RegistrationCore,
  type RegistrationMemory,
  type RegistrationOutcome,
} from "./registration-core";
import { addRegistrationService } from "./registration-service";
import { createRegistrationSocket, registrationSocketPath } from "./registration-socket";
import { createStateMachine, type RegistrationEvent, type StateMachine } from "./state";
import { live } from "./states";

/** One driver's registration with kubelet, from its name to its end. */
export interface DriverRegistration {
  /** Undefined as long as the driver has not told it. */
  readonly driverName: string | undefined;
  readonly machine: StateMachine;
  /** Where the registration socket belongs, ours or a peer's; undefined before it was first published. */
  readonly socketPath: string | undefined;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /** The driver told its name, for the first time or another one than before: it is announced under that name. */
  named(driverName: string): void;
  /** The driver came back: kubelet is made to read its node information anew. */
  driverRestarted(): void;
  /** Removes our socket if it is still ours, lets running calls finish for at most 2 s. Always the same promise. */
  close(outcome: RegistrationOutcome, reason: string): Promise<RegistrationOutcome>;
}

/** Calls that run when we stop get this long to finish. */
const GRACE_MS = 2_000;

/** Starts a driver's registration, in state `waiting` for the driver's name. */
export function startDriverRegistration(
  options: DriverRegistrationOptions,
  {
    protos,
    log: parentLog,
    events,
  }: { readonly protos: Protos; readonly log: Logger; readonly events: Events<RegistrarEvent> },
): DriverRegistration {
  const log = parentLog.named("registration");
  let driverName: string | undefined;
  let leaveState = new AbortController();
  /** What this state does, and what former states still have to end. */
  const activities = new Set<Promise<void>>();
  let closing: Promise<RegistrationOutcome> | undefined;
  let resolveClosed: (outcome: RegistrationOutcome) => void;
  const closed = new Promise<RegistrationOutcome>((resolve) => {
    resolveClosed = resolve;
  });
  const memory: RegistrationMemory = {
    publications: 0,
    foundLeftover: false,
    alias: undefined,
    movedFromBackoff: false,
    everRegistered: false,
    driverRestarted: false,
    refusals: 0,
    refusalText: undefined,
    repeats: 0,
    lastGetInfoMs: 0,
    lastNoticeMs: 0,
  };

  const standsByForPeers = options.onRegistrationFailure === "retry";
  const acceptor = startGrpcAcceptor({
    log,
    addServices: (server) =>
      addRegistrationService(
        server,
        {
          driverName: () => core.driverName,
          endpoint: options.kubeletRegistrationPath,
          state: () => machine.state,
          onGetInfo: () => {
            memory.lastGetInfoMs = performance.now();
            events.emit({ kind: "asked" });
            machine.dispatch({ kind: "get-info" });
          },
          onNotice: ({ registered, error }) => {
            memory.lastNoticeMs = performance.now();
            events.emit({ kind: "notified", registered, error });
            if (registered) {
              Object.assign(memory, {
                everRegistered: true,
                refusals: 0,
                refusalText: undefined,
                repeats: 0,
              });
              machine.dispatch({ kind: "accepted" });
            } else if (standsByForPeers && meansPeer(error))
              machine.dispatch({ kind: "already-registered", error });
            else machine.dispatch({ kind: "refused", error });
          },
        },
        { protos, log },
      ),
  });
  const socket = createRegistrationSocket(acceptor.accept, log);

  const machine = createStateMachine("waiting", (change) => {
    const { from, to, event } = change;
    const fields = { from, to, reason: event.kind, driver: driverName, socket: socket.path };
    log.v(isSameRound(event, memory) ? 4 : 0).info("Registration state changed", fields);
    leaveState.abort();
    leaveState = new AbortController();
    const { signal } = leaveState;
    events.emit({ kind: "state-changed", change });
    // A listener may have closed us, and so have led to yet another state.
    if (signal.aborted) return;
    const activity = live(core, signal, change)
      .catch((error: unknown) => {
        log.error(error, "Registration cannot go on", { state: to });
        core.fail(failedBy(error));
      })
      .finally(() => activities.delete(activity));
    activities.add(activity);
  });

  const shutDown = async (outcome: RegistrationOutcome, reason: string): Promise<RegistrationOutcome> => {
    let end = outcome;
    machine.dispatch({ kind: "stop", reason });
    try {
      socket.withdraw();
    } catch (error) {
      log.error(error, "Failed to remove socket with error", { socket: core.socketPath });
      if (outcome.kind === "stopped") end = failedBy(error);
    }
    await Promise.all(activities);
    await acceptor.close({ graceMs: GRACE_MS });
    machine.dispatch({ kind: "closed" });
    resolveClosed(end);
    return end;
  };
  const close = (outcome: RegistrationOutcome, reason: string) => {
    closing ??= shutDown(outcome, reason);
    return closing;
  };

  const core: RegistrationCore = {
    options,
    protos,
    log,
    events,
    socket,
    machine,
    memory,
    get driverName() {
      return driverName ?? "";
    },
    get socketPath() {
      return registrationSocketPath(options.pluginRegistrationPath, memory.alias ?? driverName ?? "");
    },
    kubeletIsBusy: () => {
      const { lastGetInfoMs, lastNoticeMs } = memory;
      const waitsForNotice =
        lastGetInfoMs > lastNoticeMs && performance.now() - lastGetInfoMs < KUBELET_BUSY_MS;
      // A standby peer holds a connection too, but never calls.
      return waitsForNotice && acceptor.hasCaller;
    },
    get connections() {
      return acceptor.connections;
    },
    fail: (outcome) => void close(outcome, outcome.kind),
  };

  return {
    get driverName() {
      return driverName;
    },
    machine,
    get socketPath() {
      return memory.publications > 0 ? core.socketPath : undefined;
    },
    closed,
    named: (name) => {
      const kind = driverName === undefined ? "driver-named" : "driver-renamed";
      socket.withdraw();
      driverName = name;
      memory.alias = undefined;
      machine.dispatch({ kind, driverName: name });
    },
    driverRestarted: () => {
      memory.driverRestarted = true;
    },
    close,
  };
}

/** Whether it is one more step of what kubelet refuses over and over for one reason, of which `refused` tells. */
function isSameRound(event: RegistrationEvent, { repeats, refusalText }: RegistrationMemory): boolean {
  if (event.kind === "refused") return event.error === refusalText;
  return repeats > 0 && ["retry", "published", "get-info"].includes(event.kind);
}
