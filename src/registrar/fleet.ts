import type { RegistrarEvent } from "./events";
import type { RegistrationOutcome } from "./registration/registration-core";
import type { Registrar } from "./start-registrar";

/** The registrars of one process: one as a sidecar, one for each driver in node-wide mode. */
export interface Fleet extends AsyncDisposable {
  readonly kind: "sidecar" | "node-wide";
  /** Those that there are now, in the order of their coming. */
  readonly registrars: readonly Registrar[];
  /** Calls `listener` for everything that happens to any of them from now on. */
  subscribe(listener: (event: RegistrarEvent, registrar: Registrar) => void): () => void;
  /** Resolves, never rejects, when all is over and nothing is left behind. */
  readonly closed: Promise<RegistrationOutcome>;
  /** Deregisters every driver. Always the same promise. */
  close(): Promise<RegistrationOutcome>;
}

/** A single registrar as a fleet. */
export function fleetOf(registrar: Registrar): Fleet {
  return {
    kind: "sidecar",
    registrars: [registrar],
    subscribe: (listener) => registrar.subscribe((event) => listener(event, registrar)),
    closed: registrar.closed,
    close: registrar.close,
    [Symbol.asyncDispose]: registrar[Symbol.asyncDispose],
  };
}
