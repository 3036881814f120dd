import { setMaxListeners } from "node:events";
import { messageOf } from "../base/errors";
import type { Events } from "../base/event-source";
import type { PatternPair } from "../host-path/path-pattern";
import type { Logger } from "../logging/logger";
import type { Hold } from "./driver/hold";
import { createRegistrationEvents } from "./model/events";
import { OF_A_CSI_DRIVER, readCsiAddress } from "./model/options";
import type { RegistrationOutcome } from "./model/outcome";
import { createAdmission } from "./node-wide/admission";
import { discover } from "./node-wide/discovery";
import { createNodeDrivers } from "./node-wide/node-drivers";
import type { ResolvedNodeOptions } from "./node-wide/options";
import { answerProbes } from "./node-wide/probe-socket";
import type { NodeRegistrarEvent, Registrations } from "./registration/registrations";
import { startDriverRegistration } from "./start-driver-registration";

/** The registrations of every driver of a node, and what happens to each. */
export interface NodeRegistrar
  extends Omit<Registrations, "subscribe">,
    Events<NodeRegistrarEvent>,
    AsyncDisposable {
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /** Deregisters every driver. Always the same promise. */
  close(): Promise<RegistrationOutcome>;
  /** The same, without letting running calls finish; also during `close()`. */
  destroy(): Promise<RegistrationOutcome>;
}

/** How each driver of a node is registered. */
const OF_A_NODE = {
  isNodeWide: true,
  onRegistrationFailure: "retry",
  driverTimeoutMs: 0,
  onEvent: () => {},
} as const;

/** A driver's socket; where its path cannot be used, with what holds its registration while the socket is there. */
function socketAt(
  csiAddress: string,
  log: Logger,
): ReturnType<typeof readCsiAddress> & { readonly hold?: Hold } {
  try {
    return readCsiAddress(csiAddress);
  } catch (error) {
    log.error(error, "Cannot register the CSI driver", { csiAddress });
    const trouble = { kind: "failed", text: messageOf(error) } as const;
    const hold = { until: new Promise(() => {}), status: () => ({ identity: undefined, trouble }) };
    return { csiAddress, csiSocketPath: csiAddress, hold };
  }
}

interface NodeStartContext {
  readonly signal: AbortSignal | undefined;
  readonly log: Logger;
}

/** What `startNodeRegistrar` does, with options that were read. */
export function startNodeRegistrations(
  { pairs, driverGoneAfterMs, names, onEvent, ...common }: ResolvedNodeOptions,
  { signal, log }: NodeStartContext,
): NodeRegistrar {
  const admission = createAdmission(names);
  const events = createRegistrationEvents<NodeRegistrarEvent>(log);
  events.subscribe(onEvent);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // Each pattern listens: Node would warn of a leak at the eleventh.

  const register = (csiAddress: string, endpoint: string, wait: Hold | undefined) => {
    const { hold = wait, ...socket } = socketAt(csiAddress, log);
    const options = { ...common, ...OF_A_CSI_DRIVER, ...OF_A_NODE, ...socket, endpoint };
    const registration = startDriverRegistration(options, {
      admit: (name, log, onWithheld) => admission.request(name, csiAddress, log, onWithheld),
      log: log.with({ csiAddress }),
      hold,
    });
    registration.subscribe((event) => events.emit({ ...event, registration }));
    registration.closed.then(() => admission.release(csiAddress)).catch(() => {}); // It never rejects.
    return registration;
  };
  const drivers = createNodeDrivers({ register, driverGoneAfterMs, log, signal: stop.signal });
  const watchPair = ({ csiAddress, endpoint }: PatternPair) =>
    discover(csiAddress, {
      log,
      signal: stop.signal,
      onChanges: (changes) => drivers.update(changes, endpoint),
    });

  log.info("Looking for CSI drivers", { patterns: pairs.map(({ csiAddress }) => csiAddress.text).join(" ") });
  const registrations = {
    scope: "node-wide",
    get all() {
      return drivers.registrations;
    },
  } as const;
  const at = { pluginRegistrationPath: common.pluginRegistrationPath, pairs };
  const answering = answerProbes(registrations, at, { log, signal: stop.signal });
  const closed = Promise.all(pairs.map(watchPair)).then(async (): Promise<RegistrationOutcome> => {
    signal?.removeEventListener("abort", close);
    await Promise.all([drivers.close(), answering]);
    events.end();
    return { kind: "stopped" };
  });
  const close = () => {
    stop.abort();
    return closed;
  };
  signal?.addEventListener("abort", close);

  return Object.assign(registrations, {
    ...events.forListeners,
    closed,
    close,
    destroy: () => {
      for (const registration of drivers.registrations) registration.destroy().catch(() => {}); // It never rejects.
      return close();
    },
    [Symbol.asyncDispose]: async () => void (await close()),
  });
}
