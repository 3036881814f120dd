import { errnoOf, messageOf, RegistrarError } from "../../errors";
import type { ConnectionTally } from "../../grpc/acceptor";
import type { Protos } from "../../grpc/protos";
import type { Logger } from "../../logging/logger";
import type { Events, RegistrarEvent } from "../events";
import type { ResolvedRegistrarOptions } from "../options";
import type { RegistrationSocket } from "./registration-socket";
import type { StateMachine } from "./state";

/** How a registration ended. */
export type RegistrationOutcome =
  /** Closed by its owner. */
  | { readonly kind: "stopped" }
  /** Kubelet refused the driver; `error` is kubelet's text, verbatim. */
  | { readonly kind: "refused"; readonly error: string }
  /** It could not go on. */
  | { readonly kind: "failed"; readonly error: RegistrarError };

/** The outcome after something was thrown: system errors are the socket's, others a fault of ours. */
export function failedBy(thrown: unknown): RegistrationOutcome {
  if (thrown instanceof RegistrarError) return { kind: "failed", error: thrown };
  const code = errnoOf(thrown) ? "SOCKET_UNUSABLE" : "INTERNAL";
  return { kind: "failed", error: new RegistrarError(code, messageOf(thrown), { cause: thrown }) };
}

/** The options that a registration by itself needs. */
export interface DriverRegistrationOptions
  extends Pick<
    ResolvedRegistrarOptions,
    "kubeletRegistrationPath" | "pluginRegistrationPath" | "onRegistrationFailure" | "timeoutMs"
  > {
  /**
   * What to do at the start where a living registrar has our socket's place: as the newest take it, or stand by for
   * it. @default "take"
   */
  readonly placeTaken?: "take" | "stand-by" | undefined;
}

/** What a state's behaviour works with. */
export interface RegistrationCore {
  readonly options: DriverRegistrationOptions;
  readonly protos: Protos;
  readonly log: Logger;
  readonly events: Events<RegistrarEvent>;
  readonly socket: RegistrationSocket;
  readonly machine: StateMachine;
  readonly memory: RegistrationMemory;
  readonly driverName: string;
  /** Where our socket belongs at present. */
  readonly socketPath: string;
  /** Whether kubelet is between GetInfo and its notice, when another publication would tear its work down. */
  kubeletIsBusy(): boolean;
  /** What has been seen of connections to our socket. */
  readonly connections: ConnectionTally;
  fail(outcome: RegistrationOutcome): void;
}

/** What a registration remembers from one state to the next. */
export interface RegistrationMemory {
  publications: number;
  /** A dead socket stood at our path when we first published: kubelet may be backing off from it. */
  foundLeftover: boolean;
  /** The name that stands in for the usual one, to get around kubelet's backoff; perhaps a former registrar's. */
  alias: string | undefined;
  movedFromBackoff: boolean;
  everRegistered: boolean;
  /** The driver came back and kubelet is to read its node information anew, as soon as it is not at it already. */
  driverRestarted: boolean;
  /** Refusals since kubelet last accepted us, and the text of the latest. */
  refusals: number;
  refusalText: string | undefined;
  /** How often the latest text came again. */
  repeats: number;
  /** Milliseconds of `performance.now()`; 0 for never. */
  lastGetInfoMs: number;
  lastNoticeMs: number;
}

/** The longest that kubelet may be between GetInfo and its notice: NodeGetInfo has 2 min (csi_plugin.go), and slack. */
export const KUBELET_BUSY_MS = 150_000;
