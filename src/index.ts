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
export type { RegistrationOutcome } from "./registrar/registration/registration-core";
export type { Registration, RegistrationStatus } from "./registrar/registration/registration-handle";
export type { SelfCheckAnswer } from "./registrar/registration/self-check";
export {
  HISTORY_LENGTH,
  type RegistrationEvent,
  type RegistrationState,
  type StateChange,
} from "./registrar/registration/state";
export type { Tally } from "./registrar/registration/tally";
export type { StartContext } from "./registrar/start-context";
export { type DriverStatus, type Registrar, startRegistrar } from "./registrar/start-registrar";
export { startRegistration } from "./registrar/start-registration";
