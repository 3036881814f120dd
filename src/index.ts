/**
 * The registrar as a library: a CSI driver's registration with kubelet as a value. It prints nothing, handles no
 * signals of the process, and does nothing when it is imported.
 */

export { RegistrarError, type RegistrarErrorCode } from "./errors";
export type { PluginIdentity } from "./grpc/protos";
export { createLogger, type LogFields, type Logger, type LogRecord, type LogSink } from "./logging/logger";
export type { DriverCall, RegistrarEvent } from "./registrar/events";
export type { NameLists } from "./registrar/node-wide/admission";
export {
  type NodeRegistrar,
  type NodeRegistrarOptions,
  startNodeRegistrar,
} from "./registrar/node-wide/start-node-registrar";
export type {
  CommonOptions,
  RegistrarOptions,
  RegistrationFailurePolicy,
  RegistrationOptions,
} from "./registrar/options";
export type { DriverStatus, DriverTrouble } from "./registrar/registration/driver-status";
export type { RegistrationOutcome } from "./registrar/registration/outcome";
export { HISTORY_LENGTH, type Registration } from "./registrar/registration/registration";
export type { SelfCheck } from "./registrar/registration/self-check";
export type {
  PublishReason,
  RegistrationEvent,
  StateChange,
  StateName,
} from "./registrar/registration/state";
export type { Tally } from "./registrar/registration/tally";
export type { Registrations } from "./registrar/registrations";
export type { StartContext } from "./registrar/start-context";
export { startRegistrar } from "./registrar/start-registrar";
export { startRegistration } from "./registrar/start-registration";
