import { whyUnwanted } from "../../registrar/node-wide/name-lists";
import { driverOfSocket } from "../../registrar/socket/socket-name";
import { flat, type Verdict, type Verdicts } from "../findings/finding";
import type { DriverRow } from "../findings/report";
import type { DriverFacts, Facts, RegistrationFacts } from "./facts";
import { standingOf } from "./standing";
import { hasNodeService, nameTold } from "./whose";
import { DRIVER, IS_IT_DENIED, isStuck, socketText } from "./words";

/** One row for each driver found anywhere: in the registration directory, under kubelet's plugins, or by its flag. */
export function driversIn(facts: Facts): readonly DriverRow[] {
  const published = facts.registrations.flatMap(publishedRow);
  const unpublished = allDrivers(facts).filter((driver) => isOne(driver) && !isRegistered(driver, facts));
  const silent = facts.registrations
    .flatMap((one) => silentRow(one, unpublished))
    .filter(({ name }) => !published.some((row) => row.name === name));
  const isSilent = (driver: DriverFacts) => silent.some(({ name }) => name === nameTold(driver));
  return [
    ...published,
    ...silent,
    ...unpublished.filter((one) => !isSilent(one)).map((one) => unpublishedRow(one, facts)),
  ];
}

/** The driver that was asked for, and those found beside it. */
export function allDrivers({ driver, found }: Facts): readonly DriverFacts[] {
  return driver === undefined ? found : [driver, ...found];
}

/** A driver of which the same is asked, whether a flag named it or it was found. */
export interface Examined {
  readonly driver: DriverFacts;
  /** `the CSI driver`, and of one that was found where it is. */
  readonly subject: string;
}

/**
 * What `judge` says of the driver that was named and of those that were found and are to be registered. Beside a named
 * driver, what is wrong with others is worth a warning, and no more is said of them.
 */
export function judgeDrivers(facts: Facts, judge: (one: Examined) => Verdicts): readonly Verdict[] {
  const { driver, found, target } = facts;
  const named = driver === undefined ? [] : flat(judge({ driver, subject: DRIVER }));
  const others = found
    .filter((one) => !isStuck(one.socket) && isOne(one) && unwantedReason(one, facts) === undefined)
    .flatMap((one) => flat(judge({ driver: one, subject: `${DRIVER} on ${one.socket.path}` })));
  if (target.csiSocketPath === undefined) return others;
  const bad = others.filter(({ status }) => status === "problem" || status === "warning");
  return [...named, ...bad.map((verdict): Verdict => ({ ...verdict, status: "warning" }))];
}

/** Why a driver is not to be registered, and is not; undefined for any other. */
export function unwantedReason(driver: DriverFacts, facts: Facts): string | undefined {
  const name = nameTold(driver);
  return name === undefined || isRegistered(driver, facts)
    ? undefined
    : whyUnwanted(name, driver.socket.path, facts.target.names);
}

/** Stands for an answer to NodeGetInfo for which kubelet refuses the driver. */
export function nodeInfoCause(name: string | undefined): string {
  return `node-info ${name}`;
}

/** A registration socket on which no registrar answers. */
function silentRow(one: RegistrationFacts, drivers: readonly DriverFacts[]): readonly DriverRow[] {
  const standing = standingOf(one, true);
  const { path } = standing;
  const name = driverOfSocket(path);
  if (name === undefined || standing.kind === "answering" || standing.state === undefined) return [];
  const driver = drivers.find((other) => nameTold(other) === name);
  const { state, text } = standing;
  const reason = `${path} ${text}`;
  return [
    { name, state, since: null, reason, csiSocket: driver?.socket.path ?? null, registrationSocket: path },
  ];
}

function publishedRow({ socket, info, report }: RegistrationFacts): readonly DriverRow[] {
  if (info.kind !== "answered" || info.value.type !== "CSIPlugin") return [];
  const { name, endpoint } = info.value;
  return [
    {
      name,
      state: report?.state ?? "untold",
      since: report?.since === undefined ? null : new Date(report.since).toISOString(),
      reason: report?.reason ?? null,
      csiSocket: endpoint === "" ? socket.path : endpoint,
      registrationSocket: socket.path,
    },
  ];
}

function unpublishedRow(driver: DriverFacts, facts: Facts): DriverRow {
  return {
    name: nameTold(driver) ?? null,
    since: null,
    ...unpublishedState(driver, facts),
    csiSocket: driver.socket.path,
    registrationSocket: null,
  };
}

function unpublishedState(driver: DriverFacts, facts: Facts): Pick<DriverRow, "state" | "reason"> {
  const name = nameTold(driver);
  const because = name === undefined ? undefined : whyUnwanted(name, driver.socket.path, facts.target.names);
  if (because !== undefined) return { state: "not-wanted", reason: because };
  const { directory } = facts;
  const errno =
    directory.kind === "out-of-reach" ? directory.errno : directory.kind === "folder" && directory.unlistable;
  return errno
    ? { state: "unknown", reason: `${directory.path} may not be read: ${errno}` }
    : { state: "unpublished", reason: reasonText(driver, facts) };
}

/** Not every socket under kubelet's plugins is a CSI driver's with a node service. */
function isOne({ identity, nodeInfo }: DriverFacts): boolean {
  return ![identity, nodeInfo].some((answer) => answer.kind === "failed" && answer.code === "Unimplemented");
}

/** Why a driver that was found has no registration socket, as far as the driver itself tells. */
function reasonText(driver: DriverFacts, facts: Facts): string {
  const { socket, identity, nodeInfo } = driver;
  if (socket.kind !== "accepting") return socketText(socket);
  if (identity.kind === "failed") return `GetPluginInfo: ${identity.code}: ${identity.message}`;
  if (nodeInfo.kind === "failed") return `NodeGetInfo: ${nodeInfo.code}: ${nodeInfo.message}`;
  const twin = twinOf(driver, facts);
  return twin === undefined
    ? `the driver answers; no registrar has published it; ${IS_IT_DENIED}`
    : `another driver has its name: ${twin}; only one of them can be registered`;
}

/** Where another driver of the same name is, as found or as kubelet gets it; undefined if there is only one. */
export function twinOf(driver: DriverFacts, facts: Facts): string | undefined {
  const name = nameTold(driver);
  if (name === undefined || isEndpoint(driver, facts)) return undefined;
  const found = allDrivers(facts).find(
    (other) => other !== driver && nameTold(other) === name && hasNodeService(other),
  );
  if (found !== undefined) return found.socket.path;
  const registered = facts.registrations.find(
    ({ info, endpoint }) =>
      info.kind === "answered" && info.value.name === name && endpoint && nameTold(endpoint) === name,
  );
  return registered?.endpoint?.socket.path;
}

/** Whether a driver has a registration socket that answers: under its name, or with its socket as endpoint. */
export function isRegistered(driver: DriverFacts, facts: Facts): boolean {
  return hasRegistration(driver, facts, (name) => name === nameTold(driver));
}

/** Whether a registration socket has certainly this driver's socket as endpoint, as far as endpoints are seen from here. */
function isEndpoint(driver: DriverFacts, facts: Facts): boolean {
  return hasRegistration(driver, facts, () => false);
}

function hasRegistration(
  driver: DriverFacts,
  { registrations }: Facts,
  isByName: (name: string) => boolean,
): boolean {
  const inode = "inode" in driver.socket ? driver.socket.inode : undefined;
  return registrations.some(({ info, endpoint }) => {
    if (info.kind !== "answered") return false;
    const there = endpoint?.socket;
    // Where its socket is seen, the endpoint says which of two drivers with one name it is.
    return there !== undefined && "inode" in there ? there.inode === inode : isByName(info.value.name);
  });
}
