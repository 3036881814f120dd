import { driverOfSocket } from "../../../../registrar/model/socket-name";
import { mayBeSo } from "../../findings/least";
import { itemsOf, trueOrNull } from "../../findings/opened";
import {
  beyond,
  type Gap,
  listFrom,
  looked,
  type Seen,
  type SeenList,
  type Truth,
  truth,
} from "../../findings/seen";
import { type DirectoryFacts, hiddenIn } from "./directory";
import { type Answer, type Call, type SeenDriver, type SeenPlugin, type Target, unreadAt } from "./facts";
import { hostsPath, pathHere } from "./paths";
import type { SeenSocket, SocketFacts } from "./socket";
import type { RegistrationFacts } from "./sockets-found";

// The facts as judges get them: what may be unread is there only behind a question.

export type SocketLook = ReturnType<typeof lookOfSocket>;
export type DriverLook = ReturnType<typeof lookOfDriver>;
export type RegistrationLook = ReturnType<typeof lookOfRegistration>;
export type Folder = ReturnType<typeof lookOfFolder>;

type Read<Facts> = Exclude<Facts, { readonly kind: "unread"; readonly gap: Gap }>;
/** No process listens there, or an earlier call failed: another finding says so. */
const unasked = ({ path }: Pick<SocketFacts, "path">, call: Call) =>
  unreadAt(call, path, { kind: "unasked" });

/** What is at a path; and its inode, undefined where no socket is. */
export function lookOfSocket(socket: SocketFacts) {
  const { path, inode } = socket;
  const at: Seen<SeenSocket> = looked(socket);
  const isOutOfSight = socket.kind === "unread" && socket.gap.why.kind === "unmounted";
  return {
    path,
    at,
    inode: looked(inode === undefined ? socket : inode, inode),
    /** Whether it is in a directory that is not seen from here. */
    isHidden: truth(isOutOfSight || (socket.kind === "unread" && socket.gap)),
  };
}

/** What a driver that was named is called: as it says, or as the registrar says that kubelet dials at its path. */
export function namesOf(driver: DriverLook | undefined, told: SeenList<string>): SeenList<string> {
  if (driver === undefined) return told;
  const { names, socket } = driver;
  if (itemsOf(names).length > 0) return names;
  // What has another name was not asked for.
  const isNone = itemsOf(told).length > 0 || trueOrNull(names.contains()) === false;
  return names.with(told).with(listFrom<never>(isNone ? [] : unasked(socket, "GetPluginInfo")));
}

/** Whether a registrar's endpoint is a driver's: by the sockets, if both were seen; else by the names, or also by the paths. */
export function isOwner(endpoint: SocketLook | undefined, driver: SocketLook, by: OwnerMarks): Truth {
  const isOwn = endpoint && trueOrNull(endpoint.inode.is((one) => driver.inode.is((its) => its === one)));
  if (endpoint && hasSocket(endpoint.inode) && typeof isOwn === "boolean") return truth(isOwn);
  const byMarks = isOwnerBy(driver, by);
  // What could not be read there may be this one, whatever it is called.
  const isUnread = endpoint && trueOrNull(endpoint.isHidden) === null;
  return isUnread ? byMarks.or(endpoint.inode.is(() => false)) : byMarks;
}

interface OwnerMarks {
  readonly byName: Truth;
  readonly isAnothers: Truth;
  readonly byPath: boolean;
}
const hasSocket = (one: SocketLook["inode"]) => trueOrNull(one.is((its) => its !== undefined)) === true;

function isOwnerBy({ inode, path }: SocketLook, { byName, isAnothers, byPath }: OwnerMarks): Truth {
  if (!hasSocket(inode)) return byName.or(byPath);
  if (trueOrNull(isAnothers) !== true) return byName;
  // Of several with its name only one is registered; one that says no name is taken for none of these.
  if (trueOrNull(byName) !== true) return truth(false);
  return byPath ? byName : truth(beyond("sockets", path));
}

const isUnimplemented = (answer: Answer<unknown> | undefined): boolean =>
  answer?.kind === "failed" && answer.code === "Unimplemented";

export function lookOfDriver({ socket, identity, nodeInfo, spoken }: SeenDriver) {
  const isOther = spoken === "other" || isUnimplemented(identity) || isUnimplemented(nodeInfo);
  const isThere = socket.kind === "accepting" || socket.kind === "unread";
  const answer = looked(socket, identity ?? unasked(socket, "GetPluginInfo"));
  /** What fails, or hangs, may be any driver; another finding says so. */
  const gap = beyond("GetPluginInfo", socket.path);
  const untold = listFrom<string>(isOther ? [] : { kind: "unread", gap });
  const isNode = looked(socket, identity, nodeInfo, !isOther).is((one) =>
    truth(one && nodeInfo?.kind !== "answered" ? gap : one),
  );
  return {
    socket: lookOfSocket(socket),
    identity: answer,
    /** Its name, if it says one. */
    names: isThere
      ? answer.items((one) => (one.kind === "answered" ? one.value.name : untold))
      : listFrom<string>([]).with(["stuck", "dead"].includes(socket.kind) ? untold : listFrom([])),
    nodeInfo: looked(socket, identity, nodeInfo ?? unasked(socket, "NodeGetInfo")),
    /** What its server speaks. */
    spoken: looked(socket, identity, spoken ?? unasked(socket, "GetPluginInfo")),
    /** Whether its socket has a node service: another plugin's has none, nor that of a controller. */
    isNode,
    mayBeNode: mayBeSo(isNode),
  };
}

export type PluginLook = ReturnType<typeof lookOfPlugin>;

/** `report`: how its registration is, as registrars of ours say; no finding tells that others do not. */
const lookOfPlugin = ({ report, endpoint, ...plugin }: SeenPlugin, path: string) => {
  const unreported = { kind: "unread", gap: beyond("GetInfo", path) } as const;
  return { ...plugin, endpoint: hostsPath(endpoint), report: looked(report ?? unreported) };
};

export const lookOfTarget = ({ csiSocketPath, kubeletRegistrationPath, ...target }: Target) => ({
  ...target,
  csiSocketPath: csiSocketPath === undefined ? undefined : pathHere(csiSocketPath),
  kubeletRegistrationPath:
    kubeletRegistrationPath === undefined ? undefined : hostsPath(kubeletRegistrationPath),
});
export type TargetLook = ReturnType<typeof lookOfTarget>;

/** What is found on a registration socket. */
export interface RegistrationFound {
  readonly socket: SeenSocket;
  /** What its registrar answers; undefined without one, or if that failed. */
  readonly plugin: PluginLook | undefined;
  readonly failure: Extract<RegistrationFacts["info"], { readonly kind: "failed" }> | undefined;
  readonly link: string | null;
  /** What is at a CSI driver's endpoint; undefined without an absolute path. */
  readonly endpoint: Seen<DriverLook | undefined>;
}

export function lookOfRegistration({ socket, info, link, endpoint }: RegistrationFacts) {
  const { path } = socket;
  const plugin = info?.kind === "answered" ? lookOfPlugin(info.value, path) : undefined;
  const failure = info?.kind === "failed" ? info : undefined;
  const isLookedAt = plugin?.type === "CSIPlugin";
  const unsought = { kind: "unread", gap: beyond("directory", path) } as const;
  const at = looked(isLookedAt ? endpoint && lookOfDriver(endpoint) : unsought);
  const parts = { socket, plugin, failure, link, endpoint: at };
  const found = looked(socket, info, parts as RegistrationFound);
  const own = plugin?.name || driverOfSocket(path);
  /** As its registrar says, or else as the socket's own name. */
  const names = found.items(() => own);
  /** The socket's own name also where what is on it could not be read. */
  const mayBeNames = own === undefined ? names : listFrom([own]);
  return { path, names, mayBeNames, found };
}

export const lookOfDirectory = (facts: DirectoryFacts, { hostRoot = "/" }: Pick<Target, "hostRoot">) =>
  looked(facts.kind === "directory" ? lookOfFolder(facts, hostRoot) : facts);

function lookOfFolder(facts: Extract<DirectoryFacts, { readonly kind: "directory" }>, hostRoot: string) {
  const { kind, path, ownership, unwritable, inodes, place, kubeletSocket } = facts;
  const isOther = unwritable === undefined || (unwritable === "EROFS" && hostRoot !== "/");
  return {
    ...{ kind, path, ownership },
    /** Whether it is mounted read-only. One that is not may be in the registrar's container: only its own mounts are seen. */
    isReadOnly: truth(
      isOther
        ? beyond("directory", path)
        : unwritable === "EROFS" || unreadAt("directory", path, unwritable).gap,
    ),
    isFull: truth(
      typeof inodes === "string"
        ? unreadAt("directory", path, inodes).gap
        : inodes.files > 0 && inodes.ffree === 0,
    ),
    place: looked(place),
    kubeletSocket: lookOfSocket(hiddenIn(facts, kubeletSocket)),
  };
}

export type Answered<Value> = Read<Answer<Value>>;
