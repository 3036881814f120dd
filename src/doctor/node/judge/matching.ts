import { whyUnwanted } from "../../../registrar/node-wide/name-lists";
import { driverOfSocket } from "../../../registrar/socket/socket-name";
import { answerIn, isDead, type SeenDriver } from "../read/facts";
import type { Facts, RegistrationFacts, RunningRegistrar } from "../read/gather";
import { troubleOf } from "./words";

// Which registration socket belongs to which driver.

export function nameTold({ identity }: Pick<SeenDriver, "identity">): string | undefined {
  return answerIn(identity)?.name;
}

/** The name of the driver at `csiSocketPath`; undefined if it is unknown, and if no socket is given. */
export function targetName({ driver, target, registrations }: Facts): string | undefined {
  if (target.csiSocketPath === undefined) return undefined;
  const infos = registrations.flatMap(({ info }) => answerIn(info) ?? []);
  const said = infos.find(({ endpoint }) => endpoint === target.kubeletRegistrationPath);
  return (driver && nameTold(driver)) ?? said?.name;
}

/** Whether the doctor was called for this registration. Without a driver's socket it was called for all drivers'. */
export function isTargets(one: RegistrationFacts, facts: Facts): boolean {
  const info = answerIn(one.info);
  if (facts.target.csiSocketPath === undefined)
    return info ? info.type === "CSIPlugin" : driverLeftIn(one, facts) !== undefined;
  const name = targetName(facts);
  return name !== undefined && name === (info ? info.name : driverOfSocket(one.socket.path));
}

/**
 * The driver that has no registration socket but this one, which does not answer. If the registrar's process is gone, only a
 * driver that was found counts.
 */
export function driverLeftIn(one: RegistrationFacts, facts: Facts): string | undefined {
  const name = driverOfSocket(one.socket.path);
  if (name === undefined || one.info.kind === "answered") return undefined;
  const isAnswered = facts.registrations.some((other) => answerIn(other.info)?.name === name);
  const isThere =
    troubleOf(one, true).state === "hanging" ||
    facts.found.some(
      (driver) =>
        nameTold(driver) === name && isNodeDriver(driver) && unwantedReason(driver, facts) === undefined,
    );
  return isThere && !isAnswered ? name : undefined;
}

/** The sockets on which a CSI driver's registrar answered. */
export function answeringIn(facts: Facts) {
  return facts.registrations.flatMap((one) => {
    const info = answerIn(one.info);
    if (info?.type !== "CSIPlugin") return [];
    return [{ ...one, info, path: one.socket.path, isTargets: isTargets(one, facts) }];
  });
}

export type Answering = ReturnType<typeof answeringIn>[number];

/** Whether a node has no living driver and no registrar that answers, as far as that can be seen. */
export function isDeserted(facts: Facts): boolean {
  const { directory, found } = facts;
  const canSee = directory.kind === "folder" && directory.unlistable === undefined;
  return canSee && !found.some(isNodeDriver) && answeringIn(facts).length === 0;
}

/** The driver at `csiSocketPath`, and those found. */
export function allDrivers({ driver, found }: Facts): readonly SeenDriver[] {
  return driver === undefined ? found : [driver, ...found];
}

/** Those that have no registration socket, and may need one. */
export function unregisteredIn(facts: Facts): readonly SeenDriver[] {
  return allDrivers(facts).filter((driver) => isNodeDriver(driver) && !isRegistered(driver, facts));
}

/** Whether a socket is not certainly another plugin's, or that of a controller, which has no node service. */
export function isNodeDriver({ identity, nodeInfo }: SeenDriver): boolean {
  return ![identity, nodeInfo].some((answer) => answer.kind === "failed" && answer.code === "Unimplemented");
}

/** Why the registrar's name lists exclude a driver that is not registered; undefined for any other. */
export function unwantedReason(driver: SeenDriver, facts: Facts): string | undefined {
  const name = nameTold(driver);
  if (name === undefined || isRegistered(driver, facts)) return undefined;
  return whyUnwanted(name, driver.socket.path, facts.target.names);
}

/** The registrars that wait for a driver's socket. */
export function waitingIn({ registrars, registrations }: Facts): readonly RunningRegistrar[] {
  const endpoints = registrations.map(({ info }) => answerIn(info)?.endpoint);
  return registrars.filter(
    ({ isNodeWide, endpoint, socket }) =>
      !isNodeWide && !endpoints.includes(endpoint) && (socket.kind === "missing" || isDead(socket)),
  );
}

/** The flag that kubelet's path needs, if the driver's socket was found below kubelet's root; else `advice`. */
export function pathFix(inode: string | undefined, { socketsOnHost }: Facts, advice: string): string {
  const path = inode && socketsOnHost.get(inode);
  return path ? `write --kubelet-registration-path=${path}` : advice;
}

/** What to give where a node-wide registrar's lists of names may exclude a driver; empty if no such registrar is seen. */
export function isItDenied({ target, registrars }: Facts): string {
  const isPossible = target.pattern !== undefined || registrars.some((one) => one.isNodeWide);
  return isPossible
    ? "; if the node-wide registrar is to leave it out, give its --allow-drivers or --deny-drivers here"
    : "";
}

export function isRegistered(driver: SeenDriver, { registrations }: Facts): boolean {
  return registrations.some(({ info, endpoint }) => {
    if (info.kind !== "answered") return false;
    // An endpoint that is seen says which of two drivers with one name it is.
    const inode = endpoint?.socket.inode;
    return inode === undefined ? info.value.name === nameTold(driver) : inode === driver.socket.inode;
  });
}

/** What two drivers with one name come to. */
export function onlyOneOf(name: string | undefined, { registrations }: Facts): string {
  const isPublished = registrations.some(
    ({ info, socket }) => (answerIn(info)?.name ?? driverOfSocket(socket.path)) === name,
  );
  return `only one of them can be registered${isPublished ? "" : "; no registrar has published it"}`;
}

/** The socket of another driver with the same name, as found or as kubelet gets it; undefined if there is only one. */
export function twinOf(driver: SeenDriver, facts: Facts): string | undefined {
  const { inode } = driver.socket;
  const name = nameTold(driver);
  const isEndpoint = facts.registrations.some(({ endpoint }) => inode && endpoint?.socket.inode === inode);
  if (name === undefined || isEndpoint) return undefined;
  const found = allDrivers(facts).find(
    (other) => other !== driver && nameTold(other) === name && isNodeDriver(other),
  );
  const registered = facts.registrations.find(
    ({ info, endpoint }) => answerIn(info)?.name === name && endpoint && nameTold(endpoint) === name,
  );
  return (found ?? registered?.endpoint)?.socket.path;
}
