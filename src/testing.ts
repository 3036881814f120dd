/**
 * The test kit: a simulated kubelet and a simulated CSI driver as values in a test of a driver or of a registration.
 * They speak over real unix sockets and write no log.
 */

export type { EventOf, Events, ListenOptions } from "./base/event-source";
export type { NodeGetInfoResponse, PluginInfo } from "./grpc/protos";
export { type KubeletVersion, SIMULATED_VERSIONS, type SimulatedVersion } from "./kubelet-rules/versions";
export type { ConsoleLike, LoggerOption, PinoLike } from "./logging/logger-option";
export type { StartOptions } from "./options/start-options";
export {
  type CsiAnswerResult,
  type CsiDriverEvent,
  type ObservedRequest,
  type SimulatedCsiDriver,
  startCsiDriver,
} from "./simulator/driver/csi-driver";
export type {
  CsiDriverAnswers,
  CsiDriverFault,
  CsiDriverOptions,
  CsiMethod,
} from "./simulator/driver/options";
export type { EventStream, SimulatorEvent, WaitOptions, WhenOptions } from "./simulator/event-stream";
export type {
  DeregistrationCause,
  IntroducedPlugin,
  KubeletCall,
  KubeletCallResult,
  KubeletEvent,
  RefusalStage,
} from "./simulator/kubelet/events";
export {
  type RestartOptions,
  type SimulatedKubelet,
  startKubelet,
} from "./simulator/kubelet/kubelet";
export type { CsiNodeDriver, CsiNodeObject, NodeObject } from "./simulator/kubelet/objects";
export type {
  KubeletFault,
  KubeletOptions,
  KubeletTimings,
} from "./simulator/kubelet/options";
export type { FaultTimes, SimulatorOptions } from "./simulator/simulator-options";
