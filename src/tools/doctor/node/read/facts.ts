import type { Stats } from "node:fs";
import type { NodeInfo, PluginIdentity } from "../../../../grpc/protos";
import type { NameLists } from "../../../../registrar/node-wide/name-lists";
import type { Gap } from "../../findings/seen";

/** What the doctor reads of a node: the registration directory, drivers' sockets, the processes. */
export type NodePart = "directory" | "sockets" | "processes";
export type NodeGap = Gap<NodePart>;

/** Where to look; paths are absolute and as seen from here. */
export interface Target {
  readonly csiSocketPath: string | undefined;
  readonly kubeletRegistrationPath: string | undefined;
  readonly pluginRegistrationPath: string;
  /** The pattern of driver sockets, such as `/plugins/STAR/csi.sock` with `*` for STAR. */
  readonly pattern?: string | undefined;
  /** Names that the registrar allows or denies. Default: all are allowed. */
  readonly names?: NameLists;
  /** Where the host's root is mounted: `/host` in a debugging pod. Default `/`. */
  readonly hostRoot?: string;
  /** Why a registrar would not start with the arguments given; undefined if it would. */
  readonly startProblem?: string | undefined;
  /** The registration directory was not named, and none was found. */
  readonly isGuess?: boolean;
}

export type Ownership = Readonly<Pick<Stats, "mode" | "uid" | "gid">>;

export type SocketFacts = {
  readonly path: string;
  /** Device and inode of a socket, which two paths may share. */
  readonly inode?: string;
  readonly errno?: string | undefined;
} & (
  | { readonly kind: "accepting"; readonly ownership: Ownership; readonly inode: string }
  | {
      readonly kind: "not-accepting";
      readonly ownership: Ownership;
      readonly inode: string;
      /** Errno and what it usually means. */
      readonly explanation: string;
    }
  /** `isDirectoryInSight`: its directory exists here, so the socket does not lie behind an unseen mount. */
  | { readonly kind: "missing"; readonly isDirectoryInSight: boolean }
  | { readonly kind: "not-a-socket"; readonly fileType: string }
  | { readonly kind: "out-of-reach"; readonly errno: string }
  | { readonly kind: "too-long"; readonly bytes: number }
);

export type Answer<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  | {
      readonly kind: "failed";
      /** As Go writes it: `DeadlineExceeded`. */
      readonly code: string;
      readonly message: string;
      /** The answer came, and has more bytes than are read. */
      readonly isTooLarge?: boolean;
      /** The doctor's own limit, if that ended the call: the answer is not known. */
      readonly gaveUpAfterMs?: number | undefined;
    };

/** What a driver answers; undefined where no process listens, or an earlier call failed. */
export interface SeenDriver {
  readonly socket: SocketFacts;
  readonly identity: Answer<PluginIdentity> | undefined;
  readonly nodeInfo?: Answer<NodeInfo> | undefined;
}

export const isDead = ({ kind, errno }: SocketFacts): boolean =>
  kind === "not-accepting" && errno === "ECONNREFUSED";

/** Whether a socket's listen queue is full: its process hangs. */
export const isStuck = ({ errno }: SocketFacts): boolean => errno === "EAGAIN";

/** Errnos that say what is at a path; any other one says only that this process could not look. */
const TELLING: ReadonlySet<string> = new Set(["ECONNREFUSED", "EAGAIN", "ELOOP", "ENOTDIR", "ENAMETOOLONG"]);

/** Whether a look failed, so that it says nothing about what is there. */
export const isUnread = ({ kind, errno }: Pick<SocketFacts, "kind" | "errno">): boolean =>
  errno !== undefined &&
  (kind === "out-of-reach" ? !TELLING.has(errno) : kind === "not-accepting" && CANNOT_DIAL.has(errno));

/** A socket that could not be looked at. */
export const gapOf = ({ path, errno = "" }: SocketFacts, part: NodePart): NodeGap => ({
  part,
  subject: path,
  why: { kind: "errno", errno },
});

const CANNOT_DIAL: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EMFILE", "ENFILE"]);

export const hasNoSocket = ({ kind }: SocketFacts): boolean => kind === "missing" || kind === "not-a-socket";

export const answerIn = <Value>(answer: Answer<Value> | undefined): Value | undefined =>
  answer?.kind === "answered" ? answer.value : undefined;
