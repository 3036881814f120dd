import type { Cause } from "../../findings/causes";
import { tooLong } from "../../findings/words";
import { isDead, isStuck, type Ownership, type SeenDriver, type SocketFacts } from "../read/facts";
import type { Facts, RegistrationFacts } from "../read/gather";

// What is wrong with a socket, and the causes that findings share.

export const DRIVER = "the CSI driver";
export const SEE_DRIVER = "see the driver's log";
export const DRIVER_HANGS = `${SEE_DRIVER}: it hangs or is still starting`;
export const START_DRIVER = `start the driver, or see why it ended: ${SEE_DRIVER}`;
export const SEE_REGISTRAR = "see the log of its registrar";
/** Of inotify (sysctl). */
export const LIMITS = "fs.inotify.max_user_instances or max_user_watches";
export const RUN_AS_ROOT = "run registrar doctor as root";
const KEEP_SOCKET =
  "remove the socket only if its driver is gone for good: kubelet then deregisters the driver";

const REMEDIES: Readonly<Record<string, string>> = {
  ETIMEDOUT: "see what is mounted there, and whether its server runs",
  ELOOP: "correct the symbolic links: they form a loop",
  ENOTDIR: "correct the path: a part of it is not a directory",
  EMFILE: "raise the limit of open files: ulimit -n",
};

export function remedyForErrno(errno: string | undefined, { host }: Pick<Facts, "host">): string {
  if (errno !== "EACCES" && errno !== "EPERM")
    return REMEDIES[errno ?? ""] ?? "see the kernel's messages about that file system: dmesg";
  return host.uid === 0
    ? "see what denies it to root: the right to trace (kubectl debug --profile=sysadmin), SELinux (seLinuxOptions.type: spc_t), or the file system"
    : RUN_AS_ROOT;
}

export function ownershipText({ mode, uid, gid }: Ownership): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, "0")}, owner ${uid}:${gid}`;
}

/** What is wrong with a socket, to follow its path. */
export function socketText(socket: SocketFacts): string {
  switch (socket.kind) {
    case "accepting":
      return "accepts connections";
    case "not-accepting":
      return `does not accept a connection (${ownershipText(socket.ownership)}): ${socket.explanation}`;
    case "missing":
      return socket.isDirectoryInSight ? "is not there" : "is not there, nor is its directory";
    case "not-a-socket":
      return `is ${socket.fileType}, not a socket`;
    case "out-of-reach":
      return `cannot be inspected: ${socket.errno}${socket.errno === "ETIMEDOUT" ? ", its file system does not answer" : ""}`;
    case "too-long":
      return tooLong(socket.bytes);
  }
}

export function failureText(call: string, { code, message }: Readonly<Record<"code" | "message", string>>) {
  return code === "DeadlineExceeded"
    ? `does not answer ${call} in time: ${message}`
    : `fails ${call}: ${code}: ${message}`;
}

/** Why a driver does not say its name; undefined if it does. */
export function silenceOf({ socket, identity }: Pick<SeenDriver, "socket" | "identity">): string | undefined {
  if (socket.kind !== "accepting") return `the driver's socket ${socketText(socket)}`;
  return identity?.kind === "failed" ? `the driver ${failureText("GetPluginInfo", identity)}` : undefined;
}

/** The cause of everything that fails because a driver is down; undefined for a socket whose path may be wrong. */
export function downCause(socket: SocketFacts, path = socket.path): Cause | undefined {
  if (socket.kind === "missing" && socket.isDirectoryInSight) return { kind: "missing", path };
  return isDead(socket) ? { kind: "down", inode: socket.inode ?? "" } : undefined;
}

export const namelessCause = ({ inode }: SocketFacts): Cause | undefined =>
  inode === undefined ? undefined : { kind: "nameless", inode };

export const nodeInfoCause = (driver = ""): Cause => ({ kind: "node-info", driver });

export const duplicatesCause = (endpoint: string): Cause => ({ kind: "duplicates", endpoint });

export function remedyFor(
  socket: SocketFacts,
  facts: Pick<Facts, "host">,
  path?: string,
): [fix: string, cause?: Cause | undefined] {
  const cause = downCause(socket, path);
  if (cause !== undefined) return [START_DRIVER, cause];
  if (socket.kind === "missing") return ["mount the directory here, or correct the path"];
  if (socket.kind === "not-a-socket") return ["name the driver's socket itself"];
  if (socket.kind === "too-long") return ["use a shorter path"];
  if (isStuck(socket)) return [DRIVER_HANGS, namelessCause(socket)];
  return [remedyForErrno(socket.errno, facts)];
}

/** What is wrong with a registration socket that does not answer; `state` as in the table of drivers. */
export function troubleOf(
  { socket, info }: Pick<RegistrationFacts, "socket" | "info">,
  facts: Pick<Facts, "host">,
) {
  if (isDead(socket)) {
    const text = "was left behind by its registrar: no process listens on it";
    return { state: "dead", text, fix: `start its registrar again, which replaces it; ${KEEP_SOCKET}` };
  }
  const isFailed = info?.kind === "failed" && info.code !== "DeadlineExceeded";
  if (isStuck(socket) || (socket.kind === "accepting" && !isFailed)) {
    const fix = `${SEE_REGISTRAR}, and restart its container if it does not recover; ${KEEP_SOCKET}`;
    return { state: "hanging", text: "does not answer GetInfo in time: its registrar hangs", fix };
  }
  const unknown = (text: string, fix: string) => ({ state: "unknown", text, fix });
  if (socket.kind === "accepting" && isFailed) return unknown(failureText("GetInfo", info), SEE_REGISTRAR);
  if (socket.kind === "missing") return unknown("is a symbolic link to nothing", "remove it");
  const [fix] = socket.kind === "not-a-socket" ? ["remove it"] : remedyFor(socket, facts);
  return unknown(socketText(socket), fix);
}
