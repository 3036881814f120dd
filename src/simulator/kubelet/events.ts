import type { EveryKind } from "../../base/event-source";
import type { NodeGetInfoResponse, PluginInfo } from "../../grpc/protos";
import type { KubeletVersion, SimulatedVersion } from "../../kubelet-rules/versions";
import type { WithoutTime } from "../event-stream";
import type { CsiNodeObject, NodeObject } from "./objects";
import type { KubeletFault } from "./options";

/** What kubelet does on a socket: connecting, the three calls of a CSI driver's registration, and the two of a device plugin's. */
export type KubeletCall =
  | "dial"
  | "GetInfo"
  | "NodeGetInfo"
  | "NotifyRegistrationStatus"
  | "GetDevicePluginOptions"
  | "ListAndWatch";

/** What the calls are answered that have an answer with fields. */
interface Answers {
  readonly GetInfo: PluginInfo;
  readonly NodeGetInfo: NodeGetInfoResponse;
}

/** How a call ended; `answer` where its message has fields. */
export type KubeletCallResult<Call extends KubeletCall = KubeletCall> =
  | (Call extends keyof Answers
      ? { readonly kind: "ok"; readonly answer: Answers[Call] }
      : { readonly kind: "ok"; readonly answer?: undefined })
  /** The error as kubelet's gRPC library words it. */
  | { readonly kind: "error"; readonly error: string };

/** One step of a simulated kubelet; together they tell the whole story of a registration. */
export type KubeletEvent = { readonly atMs: number } & (
  | {
      /** Kubelet watches the directory: at the start, and after each restart. */
      readonly kind: "started";
      readonly pluginRegistrationPath: string;
      readonly nodeName: string;
      /** As asked for. */
      readonly version: KubeletVersion;
      /** What is simulated for it. */
      readonly simulated: SimulatedVersion;
    }
  /** This kubelet does nothing more. */
  | { readonly kind: "stopped"; readonly because: "restart" | "close" }

  /** A socket was created, this kubelet's `generation`th; `replaced`: on a path that had one. */
  | {
      readonly kind: "socket-seen";
      readonly socketPath: string;
      readonly generation: number;
      readonly replaced: boolean;
    }
  /** A socket was removed. */
  | { readonly kind: "socket-gone"; readonly socketPath: string }
  /** A file that kubelet does not take for a plugin's socket. */
  | { readonly kind: "file-ignored"; readonly path: string; readonly because: "hidden" | "not-a-socket" }
  /** A folder cannot be watched or read. */
  | { readonly kind: "watch-failed"; readonly folder: string; readonly error: string }
  /** Kubelet's loop found a socket to register or a plugin to deregister. */
  | {
      readonly kind: "operation-started";
      readonly operation: "register" | "deregister";
      readonly socketPath: string;
    }
  /** Kubelet begins a call. */
  | { readonly kind: "calling"; readonly call: KubeletCall; readonly socketPath: string }
  /** A call has ended, after `durationMs`. */
  | {
      readonly [Call in KubeletCall]: {
        readonly kind: "called";
        readonly call: Call;
        readonly socketPath: string;
        readonly durationMs: number;
        readonly result: KubeletCallResult<Call>;
      };
    }[KubeletCall]
  /** Nothing is done for a socket that should be (un)registered; reported once per wait. */
  | {
      readonly kind: "waiting";
      readonly socketPath: string;
      readonly because:
        | { readonly kind: "backoff"; readonly remainingMs: number }
        | { readonly kind: "never-call" };
    }
  /**
   * The Node and CSINode have the driver. Kubelet reports the status to the registrar next. If that fails, `failed`
   * follows: kubelet up to 1.35 keeps the driver all the same, a newer one deregisters it.
   */
  | ({ readonly kind: "registered" } & IntroducedPlugin)
  /** The registrar gets this `error` as its registration status. */
  | ({ readonly kind: "refused"; readonly stage: RefusalStage; readonly error: string } & IntroducedPlugin)
  /** Kubelet has the driver no more: of a DRA driver, none of its instances. */
  | { readonly kind: "deregistered"; readonly driverName: string; readonly because: DeregistrationCause }
  /** A registration failed: kubelet leaves this path alone for `backoffMs`; `retries`: whether it tries again then. */
  | {
      readonly kind: "failed";
      readonly socketPath: string;
      readonly error: string;
      readonly backoffMs: number;
      readonly retries: boolean;
    }
  /** The Node has another annotation or label. */
  | { readonly kind: "node-changed"; readonly node: NodeObject }
  /** The CSINode has other drivers. */
  | { readonly kind: "csi-node-changed"; readonly csiNode: CsiNodeObject }
  /** A fault of the options or `setFaults` took effect. */
  | { readonly kind: "fault-applied"; readonly fault: KubeletFault; readonly socketPath: string }
);

export const KUBELET_EVENT_KINDS: EveryKind<KubeletEvent> = {
  started: true,
  stopped: true,
  "socket-seen": true,
  "socket-gone": true,
  "file-ignored": true,
  "watch-failed": true,
  "operation-started": true,
  calling: true,
  called: true,
  waiting: true,
  registered: true,
  refused: true,
  deregistered: true,
  failed: true,
  "node-changed": true,
  "csi-node-changed": true,
  "fault-applied": true,
};

/** A plugin that has answered GetInfo. */
export interface IntroducedPlugin {
  /** As GetInfo answered. */
  readonly driverName: string;
  /** `CSIPlugin`, `DRAPlugin` or `DevicePlugin` where kubelet knows it. */
  readonly pluginType: string;
  /** Where the plugin itself listens; the registration socket if it named none. */
  readonly endpoint: string;
  /** The registration socket. */
  readonly socketPath: string;
}

export type Emit = (event: WithoutTime<KubeletEvent>) => void;

/** What failed: no handler for such plugins, versions or names that are not acceptable, or the registration itself. */
export type RefusalStage = "no-handler" | "validation" | "registration";

/** Why a driver was deregistered. */
export type DeregistrationCause =
  | "socket-gone"
  | "socket-replaced"
  /** Another attempt for the same driver failed, which deregisters the driver too. */
  | "registration-failed"
  /** Its registrar did not get the status (kubelet 1.36 and later). */
  | "status-lost";
