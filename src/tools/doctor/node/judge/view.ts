import { basename, dirname } from "node:path";
import { driverOfSocket, SOCKET_TAIL } from "../../../../registrar/model/socket-name";
import { whyUnwanted } from "../../../../registrar/node-wide/name-lists";
import { isWithin } from "../../../../unix/mounts";
import { problem, warning } from "../../findings/finding";
import { listFrom, otherwise, type SeenList, type Truth, truth } from "../../findings/seen";
import type { DirectoryFacts } from "../read/directory";
import { answerIn, type SeenDriver, type SeenPlugin, socketIs } from "../read/facts";
import type { Facts } from "../read/gather";
import type { SocketFacts } from "../read/socket";
import type { RegistrationFacts } from "../read/sockets-found";
import { DEAD_ALIAS, troubleOf } from "./trouble";

/** What was seen, joined: which registration socket belongs to which driver. */
export type View = ReturnType<typeof viewOf>;
export type Driver = ItemOf<View["drivers"]>;
export type Published = ItemOf<View["registrations"]>;
export type Answering = ItemOf<View["answering"]>;
export type DeadSocket = ItemOf<View["deadSockets"]>;
export type Folder = Extract<DirectoryFacts, { readonly kind: "directory" }>;
type ItemOf<List> = List extends SeenList<infer Item> ? Item : never;

type Joined = RegistrationFacts & { readonly plugin: SeenPlugin | undefined };

export function viewOf(facts: Facts) {
  const { target, directory, driver, processes } = facts;
  const isWhole = target.csiSocketPath === undefined;
  const published = facts.registrations.map((one) => ({ ...one, plugin: answerIn(one.info) }));
  const plugins = published.flatMap(({ plugin }) => plugin);
  const drivers = driversOf(facts, published);
  const nameSaid = () =>
    plugins.first<string | null>(({ endpoint }) => endpoint === target.kubeletRegistrationPath, {
      yes: ({ name }) => name,
      ...otherwise(() => null),
    });
  const identity = driver?.identity;
  const isNamed = identity?.kind !== "unread" && identity?.kind === "answered";
  const targetName = isWhole ? null : isNamed ? identity.value.name : nameSaid();
  const registrations = published.map((one) => publishedOf(one, facts, drivers, published, targetName));
  const answered = registrations.flatMap(({ answer, ...one }) =>
    "plugin" in answer ? { ...one, plugin: answer.plugin } : undefined,
  );
  const answering = answered.filter(({ plugin }) => plugin.type === "CSIPlugin");
  const registrars = processes.registrars.filter(({ registersIn }) => registersIn === "here");
  return {
    ...facts,
    drivers,
    registrations,
    /** Those on which a registrar answers; and a CSI driver's registrar. */
    answered,
    answering,
    /** The name of the driver that the doctor was called for; null: it is unknown. */
    targetName,
    /** Whether the doctor was called for all drivers. */
    isWhole,
    /** Of a driver that the doctor was not called for: beside one that was named it is worth a warning. */
    bad: isWhole ? problem : warning,
    /** Whether the node has no living driver and no registrar that answers. */
    isDeserted: drivers
      .contains(({ isNode }) => isNode)
      .or(answering.contains(() => true))
      .not()
      .and(isFolder(directory)),
    /** The processes that register in this directory. */
    registrars,
    waiting: registrars.filter(({ isNodeWide, endpoint, socket }) =>
      plugins
        .contains((plugin) => plugin.endpoint === endpoint)
        .not()
        .and(!isNodeWide && ["missing", "unseen", "dead"].includes(socket.kind)),
    ),
    /** Those whose directory no kubelet of this machine watches. */
    misplaced: processes.registrars.filter(({ registersIn }) => registersIn === "elsewhere"),
    /** The directories that kubelets watch, as the host has them, that of this one's first. */
    watched: processes.kubelets
      .sorted(({ isHere }) => (isHere ? "" : "other"))
      .map((kubelet) => kubelet.directory),
  };
}

/** Whether the registration directory is there, and one. */
export const isFolder = (directory: Facts["directory"]): Truth =>
  directory.kind === "unread" ? truth(directory.gap) : truth(directory.kind === "directory");

function driversOf(facts: Facts, published: SeenList<Joined>) {
  const { target, driver, allDrivers: all } = facts;
  const endpoints = published.flatMap(({ endpoint }) => endpoint);
  const others = endpoints.with(
    all.filter(isNodeDriver).map(({ socket, identity }) => ({ socket, identity })),
  );
  const isRegisteredBeside = (other: SeenDriver, { socket }: SeenDriver) =>
    published
      .contains((one) => isOf(one, other, facts))
      .and(namesOf(other).contains(isAny))
      .and(dirname(other.socket.path) === dirname(socket.path));
  return all.map((one) => {
    const { socket } = one;
    const names = namesOf(one);
    const isHere = (other: Pick<SeenDriver, "socket">) => isSameSocket(other.socket, socket);
    const isTwin = (other: Pick<SeenDriver, "socket" | "identity">) =>
      names.contains((name) => isCalled(other, name)).and(isHere(other).not());
    const hasTwin = endpoints.contains(isHere).not().and(others.contains(isTwin));
    const isRegistered = published.contains((other) => isOf(other, one, facts));
    const whyNot = names.flatMap((name) => whyUnwanted(name, socket.path, target.names));
    const isExcluded = whyNot.contains(isAny);
    return {
      ...one,
      /** Its name, if it says one. */
      names,
      /** Whether the doctor was called for this driver. */
      isNamed: one === driver,
      /** Whether a driver with a registrar answers in its directory, while nothing is spoken on this socket. */
      isBeside: isRegistered
        .not()
        .and(one.spoken === "nothing" && one !== driver)
        .and(all.contains((other) => isRegisteredBeside(other, one))),
      /** Whether its socket is not certainly another plugin's, or that of a controller, which has no node service. */
      isNode: isNodeDriver(one),
      isRegistered,
      /** Why the registrar's name lists exclude it. */
      whyNot,
      /** Whether they do, and it is not registered. */
      isUnwanted: isRegistered.not().and(isExcluded),
      isWanted: isRegistered.or(isExcluded.not()),
      /** Whether another driver has the same name; and those, as found or as kubelet gets them. */
      hasTwin,
      twins: others.filter(isTwin),
      /** It serves CSI without a node service, and no other one with its name is seen: the node's part, or a controller. */
      isUnclear: isRegistered
        .not()
        .and(isNodeDriver(one).not())
        .and(hasTwin.not())
        .and(one !== driver)
        .and(names.contains(isAny)),
    };
  });
}

/** What is known of the registrar on a registration socket. */
type Answered =
  | { readonly kind: "plugin"; readonly plugin: SeenPlugin }
  | { readonly kind: "trouble"; readonly trouble: typeof DEAD_ALIAS }
  | { readonly kind: "unread"; readonly trouble: typeof DEAD_ALIAS };

function publishedOf(
  { plugin, ...one }: Joined,
  facts: Facts,
  drivers: ReturnType<typeof driversOf>,
  published: SeenList<Joined>,
  targetName: string | null,
) {
  const { path } = one.socket;
  const isWhole = facts.target.csiSocketPath === undefined;
  const own = driverOfSocket(path);
  const isAlias = own !== undefined && basename(path) !== own + SOCKET_TAIL;
  const isDeadAlias = socketIs(one.socket, ({ kind }) => kind === "dead").and(isAlias);
  const isOther = (other: Joined) =>
    other.socket.path !== path && (other.plugin?.name ?? driverOfSocket(other.socket.path)) === own;
  const say = () => troubleOf(one, facts);
  const troubleSeen = () =>
    published.contains(isOther).and(isDeadAlias)({ yes: () => DEAD_ALIAS, ...otherwise(say) });
  /** Another finding says that it could not be looked at, or not be asked. */
  const isUnread = one.socket.kind === "unread" || one.info?.kind === "unread";
  const answer: Answered = plugin
    ? { kind: "plugin", plugin }
    : { kind: isUnread ? "unread" : "trouble", trouble: troubleSeen() };
  const name = plugin?.name ?? own;
  const isOwn = (other: ItemOf<typeof drivers>) =>
    other.isNode.and(other.isWanted).and(name === undefined ? false : isCalled(other, name));
  const isLeft = drivers
    .contains(isOwn)
    .or("trouble" in answer && answer.trouble.state === "hanging")
    .and(published.contains((other) => other.plugin?.name === name).not())
    .and(plugin === undefined && name !== undefined);
  const isOfAny = plugin
    ? plugin.type === "CSIPlugin"
    : isLeft({ yes: () => "yes", ...otherwise(() => "no") }) === "yes";
  return {
    ...one,
    path,
    answer,
    /** As its registrar says, or else as the socket's own name. */
    name,
    /** Whether a driver that is there has no other registration socket, and this one does not answer. */
    isLeft,
    /** Whether the doctor was called for this registration. */
    isAskedFor: isWhole ? isOfAny : targetName !== null && name === targetName,
  };
}

/** Whether two paths lead to one socket. */
export function isSameSocket(there: SocketFacts, { inode }: SocketFacts): Truth {
  return there.inode === undefined
    ? socketIs(there, () => inode === undefined)
    : truth(there.inode === inode);
}

function namesOf({ socket, identity }: Pick<SeenDriver, "socket" | "identity">): SeenList<string> {
  if (socket.kind === "unread") return listFrom(socket);
  if (identity?.kind === "unread") return listFrom(identity);
  return listFrom(identity?.kind === "answered" ? [identity.value.name] : []);
}

export const isCalled = (driver: Pick<SeenDriver, "socket" | "identity">, name: string): Truth =>
  namesOf(driver).contains((one) => one === name);

/** For lists: whether there is an item. */
export const isAny = () => true;

function isNodeDriver({ socket, identity, nodeInfo, spoken }: SeenDriver): Truth {
  if (spoken === "other") return truth(false);
  if (socket.kind === "unread") return truth(socket.gap);
  if (identity?.kind === "unread") return truth(identity.gap);
  if (nodeInfo?.kind === "unread") return truth(nodeInfo.gap);
  return truth(![identity, nodeInfo].some((one) => one?.kind === "failed" && one.code === "Unimplemented"));
}

export function isOf(
  { plugin, endpoint }: Pick<Joined, "endpoint" | "plugin">,
  driver: SeenDriver,
  { target }: Pick<Facts, "target">,
): boolean | Truth {
  if (plugin === undefined) return false;
  // An endpoint that is seen says which of two drivers with one name it is.
  const inode = endpoint?.socket.inode;
  if (inode !== undefined) return inode === driver.socket.inode;
  if (driver.socket.inode !== undefined || driver.identity?.kind === "unread")
    return isCalled(driver, plugin.name);
  // Where no socket is left, its path says it.
  const { path } = driver.socket;
  const isTold = path === target.csiSocketPath && plugin.endpoint === target.kubeletRegistrationPath;
  return isCalled(driver, plugin.name).or(isTold || endpoint?.socket.path === path);
}

/** Whether a path is seen as the host has it: a directory that is a mount of its own does not show what is beside it. */
export function isInSight(path: string, { directory }: View): Truth {
  if (directory.kind === "unread") return truth(directory.gap);
  if (directory.kind !== "directory") return truth(false);
  if (directory.place.kind === "unread") return truth(directory.place.gap);
  const root = dirname(directory.path);
  return truth(!directory.place.value.isMountPoint && root !== "/" && isWithin(path, root));
}

/** The flag that kubelet's path needs, if the driver's socket was found below kubelet's root; else `advice`. */
export function pathFix(inode: string | undefined, { socketsOnHost }: View, advice: string): string {
  return socketsOnHost.first((one) => one.inode === inode, {
    yes: ({ path }) => `write --kubelet-registration-path=${path}`,
    ...otherwise(() => advice),
  });
}
