import { basename, dirname } from "node:path";
import { driverOfSocket, SOCKET_TAIL } from "../../../../registrar/model/socket-name";
import { whyUnwanted } from "../../../../registrar/node-wide/name-lists";
import { type Advice, problem, warning } from "../../findings/finding";
import { mayBeSo } from "../../findings/least";
import {
  firstSeen,
  type ItemOf,
  ifYes,
  looked,
  type Seen,
  type SeenList,
  type Truth,
  truth,
  unsoughtIf,
} from "../../findings/seen";
import { writeFlag } from "../../findings/words";
import type { Facts } from "../read/gather";
import {
  type DriverLook,
  isOwner,
  lookOfDirectory,
  lookOfDriver,
  lookOfRegistration,
  lookOfSocket,
  lookOfTarget,
  namesOf,
  type PluginLook,
  type RegistrationFound,
  type RegistrationLook,
  type SocketLook,
  type TargetLook,
} from "../read/looks";
import { REMOVE_ALIAS, removeOld, silenceOf, type Trouble, troubleOf } from "./trouble";

/** What was seen, joined: which registration socket belongs to which driver. */
export type View = ReturnType<typeof viewOf>;
export type Driver = ItemOf<View["drivers"]>;
export type Published = ItemOf<View["registrations"]>;
export type Answering = ItemOf<View["answering"]>;
export type DeadSocket = ItemOf<View["deadSockets"]>;

/** A registration socket on which a registrar answers. */
type Plugin = RegistrationLook & { readonly plugin: PluginLook };
/** Of a CSI driver, with what is at its endpoint. */
type CsiPlugin = Plugin & { readonly endpoint: DriverLook | undefined };

export function viewOf(facts: Facts) {
  const { processes, socketsOnHost, host, nowMs } = facts;
  const target = lookOfTarget(facts.target);
  const { csiSocketPath, kubeletRegistrationPath } = target;
  const isForAll = csiSocketPath === undefined;
  const directory = lookOfDirectory(facts.directory, target);
  /** If it is a directory. */
  const folder = directory.items((one) => (one.kind === "directory" ? one : undefined));
  const driver = facts.driver && lookOfDriver(facts.driver);
  const published = facts.registrations.map(lookOfRegistration);
  const plugins = published.flatMap(pluginOf);
  const csiPlugins = published.flatMap(csiPluginOf);
  const drivers = driversOf(facts, target, csiPlugins);
  const told = csiPlugins
    .filter(({ plugin }) => plugin.endpoint === kubeletRegistrationPath)
    .map(({ plugin }) => plugin.name);
  const targetNames = namesOf(driver, told);
  const registrations = published.map((one) =>
    publishedOf(one, facts, drivers, [published, plugins, targetNames]),
  );
  const answered = registrations.flatMap((one) =>
    one.answer.items((answer) => (answer.kind === "plugin" ? answeredBy(one, answer) : undefined)),
  );
  const answering = answered.filter(({ plugin }) => plugin.type === "CSIPlugin");
  const registrars = processes.registrars.filter(({ isHere }) => isHere);
  return {
    ...{ target, processes, socketsOnHost, host, nowMs },
    ...{ directory, folder, driver, hostPath: looked(facts.hostPath) },
    kubeletPath: facts.kubeletPath && lookOfSocket(facts.kubeletPath),
    deadSockets: facts.deadSockets.map(({ socket, fits }) => ({ ...lookOfSocket(socket), fits })),
    drivers,
    registrations,
    /** Those on which a registrar of a CSI driver answers, and on which one that reports. */
    ...{ answering, reporting: answered.filter(({ plugin }) => plugin.report.is(() => true)) },
    /** The name of the driver that the doctor was called for, if it is known. */
    targetNames,
    /** Whether the doctor was called for all drivers. */
    isForAll,
    /** Of a driver that the doctor was not called for: beside one that was named it is worth a warning. */
    bad: isForAll ? problem : warning,
    /** Whether the node has no living driver and no registrar that answers. */
    isDeserted: drivers
      .contains(({ isNode }) => isNode)
      .or(answering.contains())
      .not(),
    /** The processes that register in this directory. */
    registrars,
    waiting: registrars.filter(({ isNodeWide, endpoint, socket }) =>
      plugins
        .contains(({ plugin }) => plugin.endpoint === endpoint)
        .not()
        .and(!isNodeWide && ["missing", "no-directory", "dead"].includes(socket.kind)),
    ),
    /** Those whose directory no kubelet of this machine watches. */
    misplaced: processes.registrars.filter(({ isElsewhere }) => isElsewhere),
    /** A directory that a kubelet watches, as the host has it: this one, if it is. */
    watched: firstSeen(
      processes.kubelets.filter(({ isHere }) => isHere),
      processes.kubelets,
    ).map((kubelet) => kubelet.directory),
  };
}

const pluginOf = (one: RegistrationLook): SeenList<Plugin> =>
  one.found.items(({ plugin }) => plugin && { ...one, plugin });
const csiPluginOf = (one: RegistrationLook): SeenList<CsiPlugin> =>
  one.found.items(({ plugin, endpoint }) =>
    plugin?.type === "CSIPlugin" ? endpoint.map((at) => ({ ...one, plugin, endpoint: at })) : undefined,
  );

function driversOf({ driver, allDrivers }: Facts, target: TargetLook, plugins: SeenList<CsiPlugin>) {
  const told = plugins.flatMap(({ endpoint }) => endpoint);
  const endpoints = told.filter(({ socket }) => socket.isHidden.not());
  const unseen = told
    .filter(({ socket }) => socket.isHidden)
    .flatMap(({ socket }) => unsoughtIf(true, "sockets", socket.path));
  const named = driver && lookOfSocket(driver.socket);
  const all = allDrivers.map(lookOfDriver);
  const others = endpoints.with(unseen).with(all.filter(({ mayBeNode }) => mayBeNode));
  const isRegisteredBeside = (other: DriverLook, { socket }: DriverLook) =>
    plugins
      .contains((one) => isOf(one, other, all, target))
      .and(silenceOf(other).contains().not())
      .and(dirname(other.socket.path) === dirname(socket.path));
  return allDrivers.map((found) => {
    const one = lookOfDriver(found);
    const { socket } = one;
    const isNamed = found === driver ? truth(true) : named ? isSame(socket, named) : truth(false);
    const isHere = (other: DriverLook) => isSame(other.socket, socket);
    const isTwin = (other: DriverLook) =>
      one.names
        .contains((name) => other.names.contains((its) => its === name))
        .and(isHere(other).not())
        .and(endpoints.contains(isHere).not());
    const twins = others.filter(isTwin);
    const isRegistered = plugins.contains((other) => isOf(other, one, all, target));
    const whyNot = one.names.flatMap((name) => whyUnwanted(name, socket.path, target.names));
    const isExcluded = whyNot.contains();
    const isWanted = isRegistered.or(isExcluded.not());
    const mayBeUnclear = isRegistered
      .not()
      .and(one.isNode.not())
      .and(mayBeSo(twins.contains().not()))
      .and(one.names.contains());
    return {
      ...one,
      /** Whether it is the driver that was named: its socket may be there under another path, too. */
      isNamed,
      /** Whether a driver with a registrar answers in its directory, while nothing is spoken on this socket. */
      isBeside: mayBeSo(isRegistered.not())
        .and(one.spoken.is((spoken) => spoken === "nothing"))
        .and(isNamed.not())
        .and(all.contains((other) => isRegisteredBeside(other, one))),
      isRegistered,
      /** Whether kubelet dials its socket, where it says a name: then it needs a node service. */
      isDialled: endpoints.with(unseen).contains(isHere).and(one.names.contains()),
      /** Why the registrar's name lists exclude it. */
      whyNot,
      /** Whether they do, and it is not registered. */
      isUnwanted: isRegistered.not().and(isExcluded),
      ...{ isWanted, mayBeWanted: mayBeSo(isWanted) },
      /** The others with the same name, as found or as kubelet gets them. */
      twins,
      /** It serves CSI without a node service, and no other one with its name is seen: the node's part, or a controller. */
      mayBeUnclear,
    };
  });
}

/** What is known of the registrar on a registration socket. */
type Answer =
  | ({ readonly kind: "plugin"; readonly plugin: PluginLook } & Pick<RegistrationFound, "endpoint">)
  /** `isFile`: not a stream socket; `isIgnored`: no socket, so kubelet's watcher passes it over; `isAlias`: of a driver that has another one. */
  | ({
      readonly kind: "trouble";
      readonly isFile: boolean;
      readonly isIgnored: boolean;
      readonly isAlias: Truth;
    } & Trouble);

export const answeredBy = <One>(one: One, { plugin, endpoint }: Extract<Answer, { kind: "plugin" }>) => ({
  ...one,
  ...{ plugin, endpoint },
});

function publishedOf(
  one: RegistrationLook,
  facts: Facts,
  drivers: ReturnType<typeof driversOf>,
  [published, plugins, targetNames]: readonly [
    SeenList<RegistrationLook>,
    SeenList<Plugin>,
    SeenList<string>,
  ],
) {
  const { found, ...known } = one;
  const { path } = one;
  const own = driverOfSocket(path);
  const isAlias = own !== undefined && basename(path) !== own + SOCKET_TAIL;
  const isOther = (other: RegistrationLook) =>
    other.names.contains((name) => name === own).and(other.path !== path);
  const answerOf = (seen: RegistrationFound): Answer => {
    const { socket, plugin, endpoint } = seen;
    if (plugin) return { kind: "plugin", plugin, endpoint };
    const newNames = plugins.flatMap(({ plugin: { name, endpoint: at } }) =>
      socket.kind === "dead" && name !== own && basename(dirname(at)) === own ? name : undefined,
    );
    const isDeadAlias = published.contains(isOther).and(socket.kind === "dead" && isAlias);
    const trouble = troubleOf(seen, facts);
    const fix = ifYes(isDeadAlias, () => REMOVE_ALIAS).told(newNames.map(removeOld).told(trouble.fix));
    const isFile = "fileType" in socket;
    const isIgnored = isFile && socket.inode === undefined;
    return { kind: "trouble", ...trouble, fix, isAlias: isDeadAlias, isFile, isIgnored };
  };
  const answer: Seen<Answer> = found({
    seen: (seen) => looked(answerOf(seen)),
    unread: (gap) => looked({ kind: "unread", gap } as const),
  });
  const { names } = one;
  const isOwn = (other: ItemOf<typeof drivers>) =>
    other.mayBeNode.and(other.isWanted).and(names.contains((name) => saysName(other, name)));
  const isSilenced = (name: string) => plugins.contains(({ plugin }) => plugin.name === name).not();
  const isSilent = answer.is(({ kind }) => kind === "trouble");
  const isLeft = drivers.contains(isOwn).and(names.contains(isSilenced)).and(isSilent);
  return {
    ...known,
    answer,
    /** Whether a driver that is there has no other registration socket, and this one does not answer. */
    isLeft,
    /** Whether the doctor was called for this registration. */
    isAskedFor:
      facts.target.csiSocketPath === undefined
        ? answer.is((said) => (said.kind === "plugin" ? said.plugin.type === "CSIPlugin" : isLeft))
        : targetNames.contains((target) => names.contains((name) => name === target)),
  };
}

/** Whether two paths lead to one socket. */
export const isSame = (one: Pick<SocketLook, "inode">, other: Pick<SocketLook, "inode">): Truth =>
  one.inode.is((inode) => other.inode.is((another) => another === inode));

export const saysName = ({ names }: Pick<DriverLook, "names">, name: string): Truth =>
  names.contains((one) => one === name);

/** The item of a list that has one, and lacks nothing. */
export const soleIn = <Item>(list: SeenList<Item>): SeenList<Item> =>
  list
    .together()
    .filter(({ others }) => others.contains().not())
    .map(({ first }) => first);

export function isOf(
  { plugin, endpoint }: Pick<CsiPlugin, "endpoint" | "plugin">,
  driver: DriverLook,
  drivers: SeenList<DriverLook>,
  { csiSocketPath, kubeletRegistrationPath }: TargetLook,
): Truth {
  const { path } = driver.socket;
  const byName = saysName(driver, plugin.name);
  const isAnothers = drivers.contains((other) =>
    other.mayBeNode.and(saysName(other, plugin.name)).and(isSame(other.socket, driver.socket).not()),
  );
  // Where no socket is left, its path says it.
  const isTold = path === csiSocketPath && plugin.endpoint === kubeletRegistrationPath;
  // An endpoint that is seen says which of two drivers with one name it is.
  const byPath = isTold || endpoint?.socket.path === path;
  return isOwner(endpoint?.socket, driver.socket, { byName, isAnothers, byPath });
}

/** The flag that kubelet's path needs, if the driver's socket was found below kubelet's root; else `advice`. */
export function pathFix({ inode }: SocketLook, { socketsOnHost }: View, advice: string): Advice {
  const same = socketsOnHost.filter((one) => inode.is((own) => own === one.inode));
  return same.map(({ path }) => writeFlag("kubelet-registration-path", path)).told(advice);
}
