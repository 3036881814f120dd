import type { Spoken } from "../../../../grpc/client/first-frame";
import type { GetPluginInfoResponse, NodeGetInfoResponse, PluginInfo } from "../../../../grpc/protos";
import type { ParsedNames } from "../../../../registrar/node-wide/name-lists";
import type { RegistrationReport } from "../../../../registrar/registration/self-report";
import type { CallFailure, Gap, Unread, Why } from "../../findings/seen";
import type { SocketFacts } from "./socket";

/**
 * The calls, and who waits how long for an answer, in milliseconds. The doctor's own limit may be shorter: then it says nothing
 * that there was no answer.
 */
export const WAITS = {
  // pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go, GenerateRegisterPluginFunc
  GetInfo: { who: "kubelet", ms: 1_000 },
  // The default of --timeout, of this registrar and of the official one
  GetPluginInfo: { who: "a registrar by default", ms: 1_000 },
  // `csiTimeout` in pkg/volume/csi/csi_plugin.go
  NodeGetInfo: { who: "kubelet", ms: 120_000 },
} as const;
export type Call = keyof typeof WAITS;

/** What the doctor reads of a node: the registration directory, drivers' sockets, the processes, and what is answered to calls. */
export type NodePart = "directory" | "sockets" | "processes" | Call;
export type NodeGap = Gap<NodePart>;

/** Where to look; paths are absolute and as seen from here. */
export interface Target {
  readonly csiSocketPath: string | undefined;
  readonly kubeletRegistrationPath: string | undefined;
  readonly pluginRegistrationPath: string;
  /** Where the directory is a link to elsewhere: the directory that has the link. */
  readonly kubeletRoot?: string;
  /** The pattern of driver sockets, such as `/plugins/STAR/csi.sock` with `*` for STAR. */
  readonly pattern?: string | undefined;
  /** Names that the registrar allows or denies. Default: all are allowed. */
  readonly names?: ParsedNames;
  /** Where the host's root is mounted: `/host` in a debugging pod. Default `/`. */
  readonly hostRoot?: string;
  /** Why a registrar would not start with the arguments given; undefined if it would. */
  readonly startProblem?: string | undefined;
  /** Where no driver was named: whether the registrar's default socket is there could not be seen. */
  readonly unseen?: NodeGap;
  /** The registration directory was not named, and none was found. */
  readonly isGuess?: boolean;
}

/** What a server answers to a call. `unread`: the doctor gave up before others would. */
export type Answer<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  /** `isTooLarge`: the answer came, and has more bytes than are read. */
  | ({ readonly kind: "failed"; readonly isTooLarge?: boolean } & CallFailure)
  | Unread<NodePart>;

/** What a registrar answers. `report`: undefined for other ones than ours, such as the official one. */
export interface SeenPlugin extends PluginInfo {
  readonly report: RegistrationReport | undefined;
}

/** What a driver answers; undefined where no process listens, or an earlier call failed. */
export interface SeenDriver {
  readonly socket: SocketFacts;
  readonly identity: Answer<GetPluginInfoResponse> | undefined;
  readonly nodeInfo?: Answer<NodeGetInfoResponse> | undefined;
  /** What its server speaks, if that was heard. */
  readonly spoken?: Spoken | undefined;
}

/** `why`: an errno, or how a call failed. */
export const unreadAt = (part: NodePart, subject: string, why: Why | string): Unread<NodePart> => ({
  kind: "unread",
  gap: { part, subject, why: typeof why === "string" ? { kind: "errno", errno: why } : why },
});

/** What could not be looked at, or was not answered. */
export const gapsIn = (
  ...found: readonly (SocketFacts | Answer<unknown> | undefined)[]
): readonly NodeGap[] => found.flatMap((one) => (one?.kind === "unread" ? one.gap : []));

export const answerIn = <Value>(answer: Answer<Value> | undefined): Value | undefined =>
  answer?.kind === "answered" ? answer.value : undefined;
