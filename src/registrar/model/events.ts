import { createEventSource, type EveryKind } from "../../base/event-source";
import type { PluginIdentity } from "../../grpc/protos";
import { type Logger, UNHEARD } from "../../logging/logger";
import type { PublishReason, StateChange } from "./state";

/** One call that the registrar made to the CSI driver. */
export interface DriverCall {
  /** Full gRPC method, `/csi.v1.Identity/GetPluginInfo`. */
  readonly method: string;
  /** The gRPC status code; undefined where the call failed without one. */
  readonly code: number | undefined;
  /** From the call until its answer or failure, in milliseconds. */
  readonly durationMs: number;
}

/** What happens to one driver's registration, for metrics, status pages and users of the library. */
export type RegistrationEvent =
  | { readonly kind: "driver-call"; readonly call: DriverCall }
  | {
      readonly kind: "driver-answered";
      readonly identity: PluginIdentity;
      /** How long it was lost; undefined at first, and if it merely ended a connection. */
      readonly awayMs: number | undefined;
    }
  | { readonly kind: "driver-lost" }
  | { readonly kind: "state-changed"; readonly change: StateChange }
  | { readonly kind: "published"; readonly socketPath: string; readonly reason: PublishReason }
  | { readonly kind: "get-info" }
  | { readonly kind: "registration-status"; readonly registered: boolean; readonly error: string };

const KINDS: EveryKind<RegistrationEvent> = {
  "driver-call": true,
  "driver-answered": true,
  "driver-lost": true,
  "state-changed": true,
  published: true,
  "get-info": true,
  "registration-status": true,
};

export const createRegistrationEvents = <Event extends RegistrationEvent = RegistrationEvent>(log: Logger) =>
  createEventSource<Event>(KINDS, (error, { kind }) =>
    log.error(error, "A listener to events failed", { event: kind, ...UNHEARD }),
  );
