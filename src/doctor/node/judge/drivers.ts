import { attempt } from "../../../base/errors";
import { driverOfSocket } from "../../../registrar/socket/socket-name";
import type { DriverRow } from "../../findings/report";
import type { SeenDriver } from "../read/facts";
import type { Facts } from "../read/gather";
import {
  answeringIn,
  isItDenied,
  nameTold,
  onlyOneOf,
  twinOf,
  unregisteredIn,
  unwantedReason,
  waitingIn,
} from "./matching";
import { failureText, socketText, troubleOf, waitingText } from "./words";

type Row = Omit<DriverRow, "waitingPods">;

const rowOf = (state: string, reason: string | null, known: Partial<Row>): Row => ({
  name: null,
  state,
  since: null,
  reason,
  csiSocket: null,
  registrationSocket: null,
  ...known,
});

/**
 * One row for each driver found anywhere: in the registration directory, under kubelet's plugins, by its flag, by a process
 * that waits for it, or in a pod that has not started.
 */
export function driversIn(facts: Facts): readonly DriverRow[] {
  const { directory } = facts;
  const seen = driversSeen(facts);
  const pods = podsByDriver(facts);
  const canSee = directory.kind === "folder" && directory.unlistable === undefined;
  const isSeen = (name: string) => seen.some((row) => row.name === name);
  const missing = [...(canSee && pods ? pods.keys() : [])]
    .filter((name) => !isSeen(name))
    .map((name) =>
      rowOf("missing", "pods of this node name it; no driver that answers here has this name", { name }),
    );
  const isRegistered = ({ name }: Row) => seen.some((row) => row.name === name && row.state === "registered");
  return [...seen, ...missing].map((row) => ({
    ...row,
    waitingPods: pods ? (isRegistered(row) ? [] : (pods.get(row.name ?? "") ?? [])) : null,
  }));
}

/** The pods that have not started, by the driver of their inline volumes; undefined if kubelet does not tell. */
function podsByDriver({ pods }: Facts): ReadonlyMap<string, readonly string[]> | undefined {
  if (pods?.kind !== "answered") return undefined;
  const names = new Set(pods.value.flatMap(({ drivers }) => [...drivers]));
  const podsOf = (name: string) => pods.value.flatMap(({ pod, drivers }) => (drivers.has(name) ? pod : []));
  return new Map([...names].map((name) => [name, podsOf(name)]));
}

function driversSeen(facts: Facts): readonly Row[] {
  const published = answeringIn(facts).map(({ info: { name, endpoint }, path, report }) =>
    rowOf(report?.state ?? "untold", report?.reason ?? null, {
      name,
      since: attempt(() => new Date(report?.since ?? Number.NaN).toISOString()) ?? null,
      csiSocket: endpoint || path,
      registrationSocket: path,
    }),
  );
  const drivers = unregisteredIn(facts);
  // Registration sockets on which no registrar answers.
  const silent = facts.registrations.flatMap((one) => {
    const { path, kind } = one.socket;
    const name = driverOfSocket(path);
    const isPublished = published.some((row) => row.name === name);
    if (name === undefined || isPublished || one.info.kind === "answered" || kind === "not-a-socket")
      return [];
    const { state, text } = troubleOf(one, true);
    const csiSocket = drivers.find((driver) => nameTold(driver) === name)?.socket.path ?? null;
    return [rowOf(state, `${path} ${text}`, { name, csiSocket, registrationSocket: path })];
  });
  const others = drivers.filter((driver) => !silent.some(({ name }) => name === nameTold(driver)));
  const unpublished = others.map((driver) => {
    const [state, reason] = unpublishedState(driver, facts);
    return rowOf(state, reason, { name: nameTold(driver) ?? null, csiSocket: driver.socket.path });
  });
  const waiting = waitingIn(facts)
    .filter(({ socket }) => !others.some((driver) => driver.socket.path === socket.path))
    .map((one) => rowOf("waiting", `a registrar ${waitingText(one)}`, { csiSocket: one.endpoint }));
  return [...published, ...silent, ...unpublished, ...waiting];
}

/** Why a driver that was found has no registration socket, as far as the driver itself shows. */
function unpublishedState(driver: SeenDriver, facts: Facts): readonly [state: string, reason: string] {
  const { socket, identity, nodeInfo } = driver;
  const { directory } = facts;
  const unwanted = unwantedReason(driver, facts);
  if (unwanted !== undefined) return ["not-wanted", unwanted];
  const errno =
    directory.kind === "out-of-reach" ? directory.errno : directory.kind === "folder" && directory.unlistable;
  if (errno) return ["unknown", `${directory.path} may not be read: ${errno}`];
  const because = (reason: string) => ["unpublished", reason] as const;
  if (socket.kind !== "accepting") return because(`the driver's socket ${socketText(socket)}`);
  if (identity.kind === "failed") return because(`the driver ${failureText("GetPluginInfo", identity)}`);
  if (nodeInfo.kind === "failed") return because(`the driver ${failureText("NodeGetInfo", nodeInfo)}`);
  const twin = twinOf(driver, facts);
  return twin === undefined
    ? because(`the driver answers; no registrar has published it${isItDenied(facts)}`)
    : because(`another driver has its name: ${twin}; ${onlyOneOf(nameTold(driver), facts)}`);
}
