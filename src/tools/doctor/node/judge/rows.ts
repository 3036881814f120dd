import { attempt } from "../../../../base/errors";
import type { DriverRow } from "../../findings/report";
import { isUnread } from "../read/facts";
import type { RunningRegistrar } from "../read/processes";
import { failureText, silenceOf, socketText } from "./sockets";
import { type Answering, type Driver, isInSight, isOf, type View } from "./view";

const rowOf = (state: string, reason: string | null, known: Partial<DriverRow> = {}): DriverRow => ({
  ...{ name: null, state, since: null, reason, csiSocket: null, registrationSocket: null },
  ...known,
});

/**
 * One row for each driver found anywhere: in the registration directory, under kubelet's plugins, by its flag, or by a process
 * that waits for it.
 */
export function driversIn(view: View): readonly DriverRow[] {
  const unregistered = view.drivers.filter(
    ({ isNode, isRegistered, isUnclear }) => (isNode && !isRegistered) || isUnclear,
  );
  const published = view.answering.map((one) => publishedRow(one, view));
  // Registration sockets on which no registrar answers.
  const silent = view.registrations.flatMap(({ path, name, trouble, socket }) => {
    const isPublished = published.some((row) => row.name === name);
    if (trouble === undefined || name === undefined || isPublished || socket.kind === "not-a-socket")
      return [];
    const csiSocket = unregistered.find((driver) => driver.name === name)?.socket.path ?? null;
    return [rowOf(trouble.state, `${path} ${trouble.text}`, { name, csiSocket, registrationSocket: path })];
  });
  const others = unregistered.filter((driver) => !silent.some(({ name }) => name === driver.name));
  const unpublished = others.map((driver) => {
    const [state, reason] = unpublishedState(driver, view);
    return rowOf(state, reason, { name: driver.name ?? null, csiSocket: driver.socket.path });
  });
  const waiting = view.waiting
    .filter(({ socket }) => !others.some((driver) => driver.socket.path === socket.path))
    .map((one) => rowOf("waiting", `a registrar ${waitingText(one)}`, { csiSocket: one.endpoint }));
  const misplaced =
    view.watched === undefined
      ? []
      : view.misplaced.map((one) =>
          rowOf("unpublished", `its registrar ${misplacedText(one, view)}`, { csiSocket: one.endpoint }),
        );
  return [...published, ...silent, ...unpublished, ...waiting, ...misplaced];
}

function publishedRow(one: Answering, view: View): DriverRow {
  const { plugin, path, report } = one;
  return rowOf(report?.state ?? "unreported", report?.reason ?? driverTrouble(one, view) ?? null, {
    name: plugin.name,
    since: attempt(() => new Date(report?.since ?? Number.NaN).toISOString()) ?? null,
    csiSocket: plugin.endpoint || path,
    registrationSocket: path,
  });
}

export const misplacedText = ({ pid, directory }: RunningRegistrar, { watched }: View): string =>
  `(process ${pid}) registers in ${directory}${watched === undefined ? "" : `; kubelet watches ${watched}`}`;

export const waitingText = ({ pid, socket }: RunningRegistrar): string =>
  `(process ${pid}) waits for its driver: ${socket.path} ${socketText(socket)}`;

export const NO_NODE_SERVICE =
  "answers NodeGetInfo with Unimplemented: a controller's socket, or a node plugin that kubelet refuses";

/** What is wrong with a published driver itself, as far as its socket is seen from here. */
function driverTrouble(one: Answering, view: View): string | undefined {
  const places = [one.endpoint ?? [], view.drivers.filter((driver) => isOf(one, driver, view))].flat();
  const there = places.find(({ socket }) => {
    const isHidden = socket.kind === "missing" && !socket.isDirectoryInSight && !isInSight(socket.path, view);
    return !isHidden && !isUnread(socket);
  });
  return there && silenceOf(there);
}

/** Why a driver that was found has no registration socket, as far as the driver itself shows. */
function unpublishedState(driver: Driver, view: View): readonly [state: string, reason: string] {
  const { unwanted, nodeInfo, twin, isUnclear } = driver;
  const { directory } = view;
  if (unwanted !== undefined) return ["not-wanted", unwanted];
  if (directory.kind === "out-of-reach")
    return ["unknown", `${directory.path} cannot be read: ${directory.errno}`];
  if (isUnclear) return ["unknown", NO_NODE_SERVICE];
  const silence = silenceOf(driver);
  if (silence !== undefined) return ["unpublished", silence];
  if (nodeInfo?.kind === "failed")
    return ["unpublished", `the driver ${failureText("NodeGetInfo", nodeInfo)}`];
  if (twin !== undefined) return ["unpublished", `another driver has its name: ${twin}`];
  return ["unpublished", "the driver answers; no registrar has published it"];
}
