import { attempt } from "../../../base/errors";
import { judgeDriverName } from "../../../registrar/driver/driver-name";
import { driverOfSocket } from "../../../registrar/socket/socket-name";
import { describeWait, descriptorFix } from "../../../unix/descriptors";
import { check, grouped, ok, problem, unknown, type Verdict, warning } from "../../findings/finding";
import type { DriverRow } from "../../findings/report";
import { LEAVE_ONE, podsText } from "../../findings/words";
import type { SeenDriver } from "../read/facts";
import type { Facts } from "../read/gather";
import {
  answeringIn,
  DESCRIPTORS_CAUSE,
  DRIVER,
  descriptorWaitIn,
  downCause,
  driverLeftIn,
  driverTrouble,
  duplicatesCause,
  failureText,
  isDeserted,
  isItLeftOut,
  isNodeDriver,
  isRegistered,
  nameTold,
  nodeInfoCause,
  onlyOneOf,
  remedyFor,
  START_DRIVER,
  socketText,
  troubleOf,
  twinOf,
  unregisteredIn,
  unwantedReason,
  waitingIn,
  waitingText,
} from "./matching";

const driversFound = check("CSI020", "drivers-found", (facts: Facts) => [
  judgeStarved(facts),
  ...facts.found.map((one) => judgeFound(one, facts)),
  ...facts.leftOut.map(({ path, fileSystem }) =>
    unknown(
      path,
      `is a mount of ${fileSystem}, whose server may not answer: it is not looked at`,
      "have the driver's socket on the node's own disk",
    ),
  ),
  ...facts.deadSockets.map((one) => judgeDead(one, facts)),
]);

/** Names what the drivers without a registration socket have in common. */
function judgeStarved(facts: Facts): Verdict | undefined {
  const wait = descriptorWaitIn(facts);
  const bad = facts.target.csiSocketPath === undefined ? problem : warning;
  return (
    wait &&
    bad(
      facts.directory.path,
      `lacks registration sockets: ${describeWait(wait)}`,
      descriptorFix(wait),
      DESCRIPTORS_CAUSE,
    )
  );
}

/** Uninstalled drivers leave their sockets behind for ever: it is a problem only if the node has no other driver. */
function judgeDead({ socket, fits }: Facts["deadSockets"][number], facts: Facts): Verdict | undefined {
  const { target, registrations } = facts;
  // A driver that is named, and a registered one, are judged by other checks.
  const isRegistered = registrations.some(({ endpoint }) => endpoint?.socket.inode === socket.inode);
  if (isRegistered || target.csiSocketPath !== undefined) return undefined;
  const fix = `${START_DRIVER}; delete the directory if the driver was uninstalled`;
  if (isDeserted(facts)) {
    const text = "has no process that listens on it: the driver ended, and this node has no other one";
    return problem(socket.path, text, fix, downCause(socket));
  }
  if (fits) return warning(socket.path, "fits the pattern, and no process listens on it", fix);
  return unknown(socket.path, "has no process that listens on it: the driver ended, or was uninstalled", fix);
}

/** Registrars as the processes of this node show them, where their own sockets do not. */
const registrars = check("CSI024", "registrars", (facts: Facts) => {
  const bad = facts.target.csiSocketPath === undefined ? problem : warning;
  const fix = `${START_DRIVER}; or correct --csi-address, or the volume that both containers mount`;
  const waiting = waitingIn(facts).map((one) =>
    bad("a registrar", waitingText(one), fix, downCause(one.socket)),
  );
  const shared = [...grouped(facts.registrars, ({ endpoint }) => endpoint)]
    .filter(([, ones]) => ones.length > 1)
    .map(([endpoint, ones]) => {
      const pids = ones.map(({ pid }) => pid).join(", ");
      const text = `has ${ones.length} registrars on this node: processes ${pids}`;
      return warning(endpoint, text, LEAVE_ONE, duplicatesCause(endpoint));
    });
  return [...waiting, ...shared];
});

function judgeFound(driver: SeenDriver, facts: Facts): Verdict | undefined {
  const { socket } = driver;
  const { path } = socket;
  const bad = facts.target.csiSocketPath === undefined ? problem : warning;
  if (socket.kind !== "accepting") return bad(path, socketText(socket), ...remedyFor(socket));
  // Other plugins have their sockets here too. CSI003 and CSI004 judge a driver without a name or with an unsafe one.
  const name = nameTold(driver);
  if (name === undefined) return undefined;
  const because = unwantedReason(driver, facts);
  if (because !== undefined)
    return ok(path, `has the driver ${name}, not to be registered, as configured: ${because}`);
  if (judgeDriverName(name).kind === "unsafe" || !isNodeDriver(driver)) return undefined;
  const twin = twinOf(driver, facts);
  // Their registration has the name of both: where its endpoint cannot be seen, either may be the one too many.
  const both = `has a driver called ${name}, as has ${twin}: ${onlyOneOf(name, facts)}`;
  if (twin !== undefined) return bad(path, both, "remove one of the two deployments", `twins ${name}`);
  const { directory } = facts;
  if (isRegistered(driver, facts) || directory.kind !== "folder" || directory.unlistable) return undefined;
  // CSI015 or CSI019 judges its registration socket.
  if (facts.registrations.some((one) => driverLeftIn(one, facts) === name)) return undefined;
  return bad(
    path,
    `has the driver ${name}, for which there is no registration socket in ${directory.path}`,
    `see its registrar: does it run, or restart again and again? kubectl describe pod says why; ${DRIVER} answers${isItLeftOut(facts)}`,
    descriptorWaitIn(facts) ? DESCRIPTORS_CAUSE : nodeInfoCause(name),
  );
}

const PODS_API = "kubelet's Pods API";

const waitingPods = check("CSI023", "waiting-pods", (facts: Facts) => {
  const { pods } = facts;
  if (pods === undefined || pods.kind === "not-asked") return undefined;
  if (pods.kind === "failed") return unknown(PODS_API, failureText("ListPods", pods));
  const verdicts = driversIn(facts).flatMap((row) => judgeWaiting(row, facts) ?? []);
  return verdicts.length > 0
    ? verdicts
    : ok(PODS_API, "lists no pod that waits for the driver of an inline volume");
});

function judgeWaiting({ name, state, waitingPods }: DriverRow, { target }: Facts): Verdict | undefined {
  if (name === null || waitingPods === null || waitingPods.length === 0) return undefined;
  const who = `${podsText(waitingPods)} waiting for it`;
  if (state === "missing")
    return (target.csiSocketPath === undefined ? problem : warning)(
      name,
      `has ${who}, and no driver that answers here has this name`,
      "deploy its node plugin to this node: do nodeSelector and tolerations of its DaemonSet fit the node? Or correct the name in the pod",
    );
  if (state === "untold") {
    const text = `may have ${who}: its registrar does not report whether kubelet registered it`;
    return unknown(name, text, "kubectl describe pod shows what a pod waits for");
  }
  const fix =
    "fix what keeps the driver from being registered; kubelet tries again by itself within 2 minutes";
  return warning(name, `has ${who}, and is ${state}`, fix);
}

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
  const published = answeringIn(facts).map((one) => {
    const { info, path, report } = one;
    return rowOf(report?.state ?? "untold", report?.reason ?? driverTrouble(one, facts) ?? null, {
      name: info.name,
      since: attempt(() => new Date(report?.since ?? Number.NaN).toISOString()) ?? null,
      csiSocket: info.endpoint || path,
      registrationSocket: path,
    });
  });
  const drivers = unregisteredIn(facts);
  // Registration sockets on which no registrar answers.
  const silent = facts.registrations.flatMap((one) => {
    const { path, kind } = one.socket;
    const name = driverOfSocket(path);
    const isPublished = published.some((row) => row.name === name);
    if (name === undefined || isPublished || one.info.kind === "answered" || kind === "not-a-socket")
      return [];
    const { state, text } = troubleOf(one, true, facts);
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
  const wait = descriptorWaitIn(facts);
  const unseen = wait && wait.waiting > others.length ? [rowOf("waiting", describeWait(wait), {})] : [];
  return [...published, ...silent, ...unpublished, ...waiting, ...unseen];
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
  const wait = descriptorWaitIn(facts);
  if (twin === undefined && wait) return because(`the driver answers; ${describeWait(wait)}`);
  return twin === undefined
    ? because(`the driver answers; no registrar has published it${isItLeftOut(facts)}`)
    : because(`another driver has its name: ${twin}; ${onlyOneOf(nameTold(driver), facts)}`);
}

export const foundChecks = [driversFound, registrars, waitingPods];
