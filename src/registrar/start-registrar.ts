import { loadProtos, type PluginIdentity, type Protos } from "../grpc/protos";
import { type Logger, silentLogger } from "../logging/logger";
import { admitDriverName } from "./driver/driver-name";
import { watchCsiDriver } from "./driver/watch-driver";
import { createEvents, type RegistrarEvent } from "./events";
import type { Admission } from "./node-wide/admission";
import { type RegistrarOptions, type ResolvedRegistrarOptions, resolveOptions } from "./options";
import { startDriverRegistration } from "./registration/registration";
import { type DriverRegistrationOptions, failedBy } from "./registration/registration-core";
import {
  createRegistrationHandle,
  type Registration,
  type RegistrationStatus,
} from "./registration/registration-handle";
import { refuseAborted, type StartContext } from "./start-context";

/** Where one driver stands, at the moment of asking. */
export interface DriverStatus extends RegistrationStatus {
  /** What the driver told last; undefined before it told anything. */
  readonly identity: PluginIdentity | undefined;
  /** Whether there is a connection to the driver. */
  readonly connected: boolean;
}

/** A running registrar: the registration of a driver that runs elsewhere. */
export interface Registrar extends Registration {
  readonly options: ResolvedRegistrarOptions;
  status(): DriverStatus;
}

/**
 * Registers the CSI driver behind `options.csiAddress` with kubelet and keeps it registered. Resolves as soon as it is
 * at work: the driver may come later, `ready` tells when kubelet has registered it. Ended by `close()`, by `signal`,
 * by kubelet's refusal with policy `exit`, or by a failure.
 *
 * Rejects with INVALID_OPTION, and with ABORTED where it was stopped before. Whatever fails later is told by `closed`.
 */
export async function startRegistrar(
  options: RegistrarOptions,
  { signal, logger = silentLogger }: StartContext = {},
): Promise<Registrar> {
  const resolved = resolveOptions(options);
  refuseAborted(signal);
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
  /** See `DriverRegistrationOptions`. */
  readonly placeTaken?: DriverRegistrationOptions["placeTaken"];
}

/** Starts the registrar of one driver. */
export function startDriverRegistrar(
  resolved: ResolvedRegistrarOptions,
  { signal, log: parentLog, protos, admission, remindEveryMs, placeTaken }: RegistrarContext,
): Registrar {
  const log = parentLog.named("registrar");
  const events = createEvents<RegistrarEvent>();
  const owner = { csiAddress: resolved.csiAddress };
  const registration = startDriverRegistration({ ...resolved, placeTaken }, { protos, log, events });
  const stopWatching = new AbortController();
  let identity: PluginIdentity | undefined;
  let connected = false;

  const fail = (error: unknown) => {
    log.error(error, "Cannot register the CSI driver");
    void registration.close(failedBy(error), "failed");
  };

  const startOver = (name: string) => {
    log.info("CSI driver came back under another name, starting over", {
      was: registration.driverName,
      csiDriverName: name,
    });
    void registration.close({ kind: "stopped" }, "driver-renamed");
  };

  const announceAs = (name: string) => {
    if (!admission) return registration.named(name);
    // Under its former name another driver may come now, and whether it may have the new one is to be asked.
    if (registration.driverName !== undefined) return startOver(name);
    void admission
      .request(name, owner, log)
      .then(() => registration.named(name))
      .catch(fail);
  };

  const onAnswered = (answer: PluginIdentity, awayMs: number | undefined) => {
    connected = true;
    events.emit({ kind: "driver-answered", identity: answer, awayMs });
    const before = identity;
    if (before?.name !== answer.name) {
      admitDriverName(answer.name, log);
      log.v(2).info("CSI driver name", { csiDriverName: answer.name, vendorVersion: answer.vendorVersion });
    }
    identity = answer;
    const isOtherVersion = before?.vendorVersion !== answer.vendorVersion;
    if (before?.name !== answer.name) announceAs(answer.name);
    else if (resolved.reregisterOnDriverRestart && (awayMs !== undefined || isOtherVersion))
      registration.driverRestarted();
    else if (isOtherVersion)
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
  ).catch(fail);

  const handle = createRegistrationHandle(registration, {
    events,
    protos,
    timeoutMs: resolved.timeoutMs,
    signal,
    release: async () => {
      stopWatching.abort();
      await watching;
      admission?.release(owner); // Last: what was still under way may have asked for a name.
    },
  });
  return { ...handle, options: resolved, status: () => ({ ...handle.status(), identity, connected }) };
}
