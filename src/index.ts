export { RegistrarError, type RegistrarErrorCode } from "./errors";
export { createLogger, type LogFields, type Logger, type LogRecord, type LogSink } from "./logging/logger";
export type { DriverCall, PublishReason, RegistrarEvent } from "./registrar/events";
export type {
  RegistrarOptions,
  RegistrationFailurePolicy,
  ResolvedRegistrarOptions,
} from "./registrar/options";
export { type DriverStatus, type Registrar, startRegistrar } from "./registrar/registrar";
export type { RegistrationOutcome } from "./registrar/registration-core";
export {
  HISTORY_LENGTH,
  type RegistrationEvent,
  type RegistrationState,
  type StateChange,
} from "./registrar/state";
