import { createEventSource, type EveryKind } from "../../base/event-source";
import type { GetPluginInfoResponse } from "../../grpc/protos";
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
  /** The registrar called the driver, and has its answer or failure. */
  | { readonly kind: "driver-call"; readonly call: DriverCall }
  /** The driver has told its name: at first, and on each new connection. */
  | {
      readonly kind: "driver-answered";
      readonly identity: GetPluginInfoResponse;
      /** How long it was lost; undefined at first, and if it merely ended a connection. */
      readonly awayMs: number | undefined;
    }
  /** The driver's connection or socket is gone. Its registration stays. */
  | { readonly kind: "driver-lost" }
  /** The registration is in another state. */
  | { readonly kind: "state-changed"; readonly change: StateChange }
  /** The registration socket is in place, at `socketPath`. */
  | { readonly kind: "published"; readonly socketPath: string; readonly reason: PublishReason }
  /** Kubelet called GetInfo. */
  | { readonly kind: "get-info" }
  /** Kubelet reported the registration status; `error` is empty if the driver is registered. */
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
