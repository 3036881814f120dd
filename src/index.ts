/**
 * The registrar as a library: a CSI driver's registration with kubelet as a value. It prints nothing, handles no
 * signals of the process, and does nothing when it is imported.
 */

export { RegistrarError, type RegistrarErrorCode } from "./errors";
export type { PluginIdentity } from "./grpc/protos";
export { createLogger, type LogFields, type Logger, type LogRecord, type LogSink } from "./logging/logger";
export type { DriverCall, PublishReason, RegistrarEvent } from "./registrar/events";
export type {
  CommonOptions,
  RegistrarOptions,
  RegistrationFailurePolicy,
  RegistrationOptions,
  ResolvedRegistrarOptions,
} from "./registrar/options";
export { type DriverStatus, type Registrar, startRegistrar } from "./registrar/registrar";
export type { RegistrationOutcome } from "./registrar/registration-core";
export type { Registration, RegistrationStatus } from "./registrar/registration-handle";
export type { SelfCheckAnswer } from "./registrar/self-check";
export { startRegistration } from "./registrar/self-registration";
export type { StartContext } from "./registrar/start-context";
export {
  HISTORY_LENGTH,
  type RegistrationEvent,
  type RegistrationState,
  type StateChange,
} from "./registrar/state";
export type { Tally } from "./registrar/tally";
