import { RegistrarError } from "../errors";
import { loadProtos, type PluginIdentity, type Protos } from "../grpc/protos";
import { type Logger, silentLogger } from "../logging/logger";
import type { Admission } from "./admission";
import { watchCsiDriver } from "./csi-driver";
import { judgeDriverName } from "./driver-name";
import { createEvents, type RegistrarEvent } from "./events";
import { type RegistrarOptions, type ResolvedRegistrarOptions, resolveOptions } from "./options";
import { startRegistration } from "./registration";
import type { RegistrationOutcome } from "./registration-core";
import { checkRegistrationSocket, createCachedCheck, type SelfCheckAnswer } from "./self-check";
import type { RegistrationState, StateChange } from "./state";
import { createTally, type Tally } from "./tally";

/** Where one driver stands, at the moment of asking. */
export interface DriverStatus {
  readonly state: RegistrationState;
  readonly history: readonly StateChange[];
  /** What the driver told last; undefined before it told anything. */
  readonly identity: PluginIdentity | undefined;
  /** Whether there is a connection to the driver. */
  readonly connected: boolean;
  /** Where the registration socket belongs, ours or a peer's; undefined before it was first published. */
  readonly registrationSocketPath: string | undefined;
  readonly tally: Tally;
}

/** A running registrar. */
export interface Registrar extends AsyncDisposable {
  readonly options: ResolvedRegistrarOptions;
  status(): DriverStatus;
  /**
   * Walks kubelet's own path over our registration socket, within `timeoutMs`. One walk at a time, and its answer
   * serves everybody for a second. Healthy as long as there is no socket to check: the driver is still waited for.
   */
  selfCheck(): Promise<SelfCheckAnswer>;
  /** Calls `listener` for everything that happens from now on; returns what ends that. */
  subscribe(listener: (event: RegistrarEvent) => void): () => void;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /** Deregisters: removes our socket, lets running calls finish for at most 2 s. Always the same promise. */
  close(): Promise<RegistrationOutcome>;
}

/**
 * Registers the CSI driver behind `options.csiAddress` with kubelet and keeps it registered. Resolves as soon as it is
 * at work: the driver may come later. Aborting `signal` closes it; an aborted signal starts nothing.
 *
 * Rejects with INVALID_OPTION. Whatever fails later is told by `closed`.
 */
export async function startRegistrar(
  options: RegistrarOptions,
  { signal, logger = silentLogger }: { readonly signal?: AbortSignal; readonly logger?: Logger } = {},
): Promise<Registrar> {
  const resolved = resolveOptions(options);
  signal?.throwIfAborted();
  return startDriverRegistrar(resolved, { signal, log: logger, protos: loadProtos() });
}

/** What the registrars of one process share. */
export interface RegistrarContext {
  readonly signal?: AbortSignal | undefined;
  readonly log: Logger;
  readonly protos: Protos;
  /** A driver that is waited for is spoken of this often. Milliseconds. @default 10000 */
  readonly remindEveryMs?: number;
  /** Who may have which name, where there are several. */
  readonly admission?: Admission;
}

/** Starts the registrar of one driver. */
export function startDriverRegistrar(
  resolved: ResolvedRegistrarOptions,
  { signal, log: parentLog, protos, admission, remindEveryMs }: RegistrarContext,
): Registrar {
  const log = parentLog.named("registrar");
  const events = createEvents<RegistrarEvent>();
  const tally = createTally();
  events.subscribe(tally.count);
  const owner = {};
  const registration = startRegistration(resolved, { protos, log, events });
  const stopWatching = new AbortController();
  let identity: PluginIdentity | undefined;
  let connected = false;

  const announceAs = (name: string) => {
    if (!admission) return registration.named(name);
    void admission.request(name, owner, log).then(() => registration.named(name));
  };

  const onAnswered = (answer: PluginIdentity, awayMs: number | undefined) => {
    connected = true;
    events.emit({ kind: "driver-answered", identity: answer, awayMs });
    const before = identity;
    if (before?.name !== answer.name) {
      admitName(answer.name, log);
      log.v(2).info("CSI driver name", { csiDriverName: answer.name, vendorVersion: answer.vendorVersion });
    }
    identity = answer;
    if (before?.name !== answer.name) announceAs(answer.name);
    else if (resolved.reregisterOnDriverRestart) registration.driverRestarted();
    else if (before.vendorVersion !== answer.vendorVersion)
      log.info("CSI driver came back as another version, its registration stays as it is", {
        was: before.vendorVersion,
        vendorVersion: answer.vendorVersion,
      });
  };

  log.v(1).info("Attempting to open a gRPC connection", { csiAddress: resolved.csiAddress });
  const watching = watchCsiDriver(
    resolved,
    { protos, log, remindEveryMs, signal: stopWatching.signal },
    {
      onAnswered,
      onLost: () => {
        connected = false;
        events.emit({ kind: "driver-lost" });
      },
      onCall: (call) => events.emit({ kind: "driver-call", call }),
    },
  ).catch((error: unknown) => {
    log.error(error, "Cannot register the CSI driver");
    void registration.close({ kind: "failed", error }, "failed");
  });

  const close = () => {
    void registration.close({ kind: "stopped" }, "stopped");
    return closed;
  };
  const abort = () => void close();
  signal?.addEventListener("abort", abort, { once: true });
  const closed = registration.closed.then(async (outcome) => {
    signal?.removeEventListener("abort", abort);
    stopWatching.abort();
    admission?.release(owner);
    await watching;
    return outcome;
  });

  const selfCheck = createCachedCheck(async (): Promise<SelfCheckAnswer> => {
    const { socketPath } = registration;
    if (socketPath === undefined || identity === undefined) return { status: 200, body: "ok" };
    const { timeoutMs } = resolved;
    return checkRegistrationSocket({ socketPath, driverName: identity.name, timeoutMs }, protos);
  });

  return {
    options: resolved,
    selfCheck,
    status: () => ({
      state: registration.machine.state,
      history: registration.machine.history,
      identity,
      connected,
      registrationSocketPath: registration.socketPath,
      tally: tally.current,
    }),
    subscribe: events.subscribe,
    closed,
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

/** Throws UNSAFE_DRIVER_NAME for a name that could leave the registration directory, warns of other oddities. */
function admitName(name: string, log: Logger): void {
  const verdict = judgeDriverName(name);
  if (verdict.kind === "unsafe")
    throw new RegistrarError(
      "UNSAFE_DRIVER_NAME",
      `CSI driver name ${JSON.stringify(name)} is refused: ${verdict.problem}`,
    );
  if (verdict.kind === "unusual")
    log.warn("CSI driver name breaks the CSI specification", { name, problem: verdict.problem });
}
