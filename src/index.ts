/**
 * The registrar as a library: a CSI driver's registration with kubelet as a value. It handles no signals of the process, and
 * does nothing when it is imported.
 */

export { RegistrarError, type RegistrarErrorCode } from "./base/errors";
export type { EventOf, Events, ListenOptions } from "./base/event-source";
export { addMetrics, type PromClient } from "./diagnostics/add-metrics";
export { type CallContext, type UnaryHandler, unaryHandler } from "./grpc/handlers";
export type { GetPluginInfoResponse } from "./grpc/protos";
export { createLogger, type LogFields, type Logger, type LogRecord, type LogSink } from "./logging/logger";
export type { ConsoleLike, LoggerOption, PinoLike } from "./logging/logger-option";
export type { StartOptions } from "./options/start-options";
export type { RegistrationCounters } from "./registrar/model/counters";
export type { DriverCall, RegistrationEvent } from "./registrar/model/events";
export type {
  CsiRegistrationOptions,
  DevicePluginRegistrationOptions,
  DraRegistrationOptions,
  RegistrationOptions,
} from "./registrar/model/library-options";
export type {
  PluginType,
  RegistrarOptions,
  RegistrationFailurePolicy,
  SharedRegistrationOptions,
} from "./registrar/model/options";
export type { RegistrationOutcome } from "./registrar/model/outcome";
export type {
  PublishReason,
  StateChange,
  StateChangeReason,
  StateName,
} from "./registrar/model/state";
export type { DriverHealth, DriverStatus, DriverTrouble } from "./registrar/model/status";
export type { NameLists } from "./registrar/node-wide/name-lists";
export type { NodeRegistrarOptions } from "./registrar/node-wide/options";
export type { Registration } from "./registrar/registration/registration";
export type { NodeRegistrarEvent, Registrations } from "./registrar/registration/registrations";
export type { SelfCheck } from "./registrar/registration/self-check";
export { startNodeRegistrar } from "./registrar/start-node-registrar";
export type { NodeRegistrar } from "./registrar/start-node-registrations";
export { startRegistrar } from "./registrar/start-registrar";
export { startRegistration } from "./registrar/start-registration";
export type { ServedCsiDriverOptions } from "./serving/options";
export { type ServedCsiDriver, serveCsiDriver } from "./serving/serve-csi-driver";
