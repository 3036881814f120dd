import { attempt } from "../../../base/errors";
import { driverOfSocket } from "../../../registrar/socket/socket-name";
import type { DriverRow } from "../../findings/report";
import type { Facts, RegistrationFacts, RunningRegistrar, SeenDriver } from "../read/facts";
import { podsByDriver } from "../read/gather";
import {
  type Answering,
  answeringIn,
  isItDenied,
  nameTold,
  twinOf,
  unregisteredIn,
  unwantedReason,
  waitingIn,
} from "./matching";
import { failureText, socketText, troubleOf, waitingText } from "./words";

type Row = Omit<DriverRow, "waitingPods">;

/**
 * One row for each driver found anywhere: in the registration directory, under kubelet's plugins, by its flag, or in a pod
 * that has not started.
 */
export function driversIn(facts: Facts): readonly DriverRow[] {
  const { directory } = facts;
  const there = driversSeen(facts);
  const pods = podsByDriver(facts);
  const canSee = directory.kind === "folder" && directory.unlistable === undefined;
  const missing = [...(canSee && pods ? pods.keys() : [])].filter(
    (name) => !there.some((row) => row.name === name),
  );
  const isRegistered = (name: string | null) =>
    there.some((row) => row.name === name && row.state === "registered");
  return [...there, ...missing.map(missingRow)].map((row) => ({
    ...row,
    waitingPods: pods ? (isRegistered(row.name) ? [] : (pods.get(row.name ?? "") ?? [])) : null,
  }));
}

function missingRow(name: string): Row {
  const reason = "pods of this node name it; no driver that answers here has this name";
  return { name, state: "missing", since: null, reason, csiSocket: null, registrationSocket: null };
}

function driversSeen(facts: Facts): readonly Row[] {
  const published = answeringIn(facts).map(publishedRow);
  const unpublished = unregisteredIn(facts);
  const silent = facts.registrations
    .flatMap((one) => silentRow(one, unpublished))
    .filter(({ name }) => !published.some((row) => row.name === name));
  const others = unpublished.filter((driver) => !silent.some(({ name }) => name === nameTold(driver)));
  return [
    ...published,
    ...silent,
    ...others.map((driver) => unpublishedRow(driver, facts)),
    ...waitingIn(facts)
      .filter(({ socket }) => !others.some((driver) => driver.socket.path === socket.path))
      .map(waitingRow),
  ];
}

function waitingRow(one: RunningRegistrar): Row {
  const reason = `a registrar ${waitingText(one)}`;
  return {
    name: null,
    state: "waiting",
    since: null,
    reason,
    csiSocket: one.endpoint,
    registrationSocket: null,
  };
}

function publishedRow({ info, path, report }: Answering): Row {
  const { name, endpoint } = info;
  return {
    name,
    state: report?.state ?? "untold",
    since: attempt(() => new Date(report?.since ?? Number.NaN).toISOString()) ?? null,
    reason: report?.reason ?? null,
    csiSocket: endpoint === "" ? path : endpoint,
    registrationSocket: path,
  };
}

/** A registration socket on which no registrar answers. */
function silentRow(one: RegistrationFacts, drivers: readonly SeenDriver[]): readonly Row[] {
  const { path } = one.socket;
  const name = driverOfSocket(path);
  if (name === undefined || one.info.kind === "answered" || one.socket.kind === "not-a-socket") return [];
  const { state, text } = troubleOf(one, true);
  const csiSocket = drivers.find((driver) => nameTold(driver) === name)?.socket.path ?? null;
  return [{ name, state, since: null, reason: `${path} ${text}`, csiSocket, registrationSocket: path }];
}

function unpublishedRow(driver: SeenDriver, facts: Facts): Row {
  const { path: csiSocket } = driver.socket;
  const name = nameTold(driver) ?? null;
  return { name, ...unpublishedState(driver, facts), since: null, csiSocket, registrationSocket: null };
}

function unpublishedState(driver: SeenDriver, facts: Facts): Pick<DriverRow, "state" | "reason"> {
  const unwanted = unwantedReason(driver, facts);
  if (unwanted !== undefined) return { state: "not-wanted", reason: unwanted };
  const { directory } = facts;
  const errno =
    directory.kind === "out-of-reach" ? directory.errno : directory.kind === "folder" && directory.unlistable;
  return errno
    ? { state: "unknown", reason: `${directory.path} may not be read: ${errno}` }
    : { state: "unpublished", reason: reasonText(driver, facts) };
}

/** Why a driver that was found has no registration socket, as far as the driver itself shows. */
function reasonText(driver: SeenDriver, facts: Facts): string {
  const { socket, identity, nodeInfo } = driver;
  if (socket.kind !== "accepting") return `the driver's socket ${socketText(socket)}`;
  if (identity.kind === "failed") return `the driver ${failureText("GetPluginInfo", identity)}`;
  if (nodeInfo.kind === "failed") return `the driver ${failureText("NodeGetInfo", nodeInfo)}`;
  const twin = twinOf(driver, facts);
  return twin === undefined
    ? `the driver answers; no registrar has published it${isItDenied(facts)}`
    : `another driver has its name: ${twin}; only one of them can be registered`;
}
