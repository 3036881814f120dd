import { attempt } from "../../../../base/errors";
import type { DriverRow } from "../../findings/report";
import type { RunningRegistrar } from "../read/processes";
import { gapText } from "./gaps";
import { failureIn, silenceOf, socketText } from "./sockets";
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
  const published = [...view.answering.each((one) => publishedRow(one, view))];
  const drivers = [...view.drivers.each(unpublishedRow)];
  // Registration sockets on which no registrar answers.
  const silent = [
    ...view.registrations.each(({ path, name, trouble, socket }) => {
      const isPublished = published.some((row) => row.name === name);
      if (trouble === undefined || name === undefined || isPublished || socket.kind === "not-a-socket")
        return undefined;
      const csiSocket = drivers.find((row) => row.name === name)?.csiSocket ?? null;
      return rowOf(trouble.state, `${path} ${trouble.text}`, { name, csiSocket, registrationSocket: path });
    }),
  ];
  const others = drivers.filter((row) => !silent.some(({ name }) => name === row.name));
  const waiting = view.waiting.each((one) =>
    others.some((row) => row.csiSocket === one.socket.path)
      ? undefined
      : rowOf("waiting", `a registrar ${waitingText(one)}`, { csiSocket: one.endpoint }),
  );
  const misplaced = view.misplaced.each((one) =>
    view.watched === undefined
      ? undefined
      : rowOf("unpublished", `its registrar ${misplacedText(one, view)}`, { csiSocket: one.endpoint }),
  );
  return [...published, ...silent, ...others, ...waiting, ...misplaced];
}

/** The row of a driver that has no registration socket, or of which that is not known. */
function unpublishedRow(driver: Driver): DriverRow | undefined {
  const { name = null, socket, isRegistered, isUnclear, isNode } = driver;
  const known = { name, csiSocket: socket.path };
  return isRegistered.not().and(isUnclear.or(isNode))({
    yes: () => rowOf(...unpublishedState(driver), known),
    no: () => undefined,
    unknown: ([gap]) => rowOf("unknown", gap ? gapText(gap) : null, known),
  });
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
  const isThere = ({ socket }: Pick<Driver, "socket">) =>
    socket.kind !== "unread" && (socket.kind !== "unseen" || isInSight(socket.path, view));
  const { endpoint } = one;
  const there =
    endpoint && isThere(endpoint)
      ? endpoint
      : view.drivers.known((driver) => isThere(driver) && isOf(one, driver, view));
  return there && silenceOf(there);
}

/** Why a driver that was found has no registration socket, as far as the driver itself shows. */
function unpublishedState(driver: Driver): readonly [state: string, reason: string] {
  const { unwanted, nodeInfo, twin } = driver;
  if (unwanted !== undefined) return ["not-wanted", unwanted];
  if (driver.isUnclear.ifYes(() => true)) return ["unknown", NO_NODE_SERVICE];
  const silence = silenceOf(driver);
  if (silence !== undefined) return ["unpublished", silence];
  const failure = failureIn(nodeInfo);
  if (failure !== undefined) return ["unpublished", `the driver ${failure}`];
  if (twin !== undefined) return ["unpublished", `another driver has its name: ${twin}`];
  return ["unpublished", "the driver answers; no registrar has published it"];
}
