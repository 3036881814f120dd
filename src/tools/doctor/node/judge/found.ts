import { dirname } from "node:path";
import { attempt } from "../../../../base/errors";
import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import {
  check,
  ok,
  problem,
  skipped,
  unknown,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import type { DriverRow } from "../../findings/report";
import { nothing, otherwise, type SeenList, withhold } from "../../findings/seen";
import { LEAVE_ONE, namedText } from "../../findings/words";
import { socketIs } from "../read/facts";
import type { RunningRegistrar } from "../read/processes";
import {
  ADVICE,
  CAUSES,
  DRIVER,
  failureIn,
  gapText,
  remedyFor,
  silenceOf,
  socketText,
  unsureOfOthers,
} from "./trouble";
import {
  type Answering,
  type DeadSocket,
  type Driver,
  isAny,
  isFolder,
  isInSight,
  isOf,
  isSameSocket,
  type View,
} from "./view";

const driversFound = check("CSI020", "drivers-found", (view: View) => [
  view.drivers.map((one) => (one.isNamed || isOfNamed(one, view) ? undefined : judgeFound(one, view))),
  view.deadSockets.map((one) => judgeDead(one, view)),
]);

/** CSI002 says of a driver that was named where it listens instead. */
const isOfNamed = ({ socket }: Driver, { driver }: View): boolean =>
  driver !== undefined &&
  driver.identity === undefined &&
  dirname(driver.socket.path) === dirname(socket.path);

function judgeFound(driver: Driver, view: View): Verdicts {
  const { socket, isNode, isWanted, isRegistered } = driver;
  const { bad, directory, registrations, registrars, target } = view;
  const { path } = socket;
  // Its gap is reported.
  if (socket.kind === "unread") return undefined;
  if (socket.kind !== "accepting") return bad(path, socketText(socket), ...remedyFor(socket, view));
  const other = () => skipped(path, "does not speak HTTP/2, so it is no driver's", NO_DRIVER);
  if (driver.spoken === "other") return isRegistered({ yes: nothing, no: other, unknown: withhold });
  const standing = standingOf(driver);
  const { kind, name } = standing;
  switch (kind) {
    // CSI003 and CSI004 judge a driver without a name or with an unsafe one. Other plugins have their sockets here too.
    case "silent":
    case "unsafe":
      return undefined;
    case "not-wanted": {
      const text = `has the driver ${namedText(name)}, not to be registered, as configured: ${standing.why}`;
      return ok(path, text);
    }
    case "unclear":
      return unknown(path, `has the driver ${name}, which ${NO_NODE_SERVICE}`, SEE_PLUGIN);
    case "twin": {
      // Their registration has the name of both: where its endpoint cannot be seen, either may be the one too many.
      const text = `has a driver called ${name}, as has ${standing.why}: only one of them can be registered`;
      const fix = "remove one of the two deployments";
      const say = () => bad(path, text, fix, { kind: "twins", driver: name });
      return isNode.and(isWanted)({ yes: say, no: nothing, unknown: withhold });
    }
    case "unpublished": {
      // CSI015 or CSI019 judges its registration socket.
      const isJudged = registrations.contains((one) => one.isLeft.and(one.name === name));
      const own = byProcess(driver, view, seeProcess, "");
      const hint = () => (own ? "" : MAY_WAIT) + LEAVE_OUT;
      const isNodeWide = registrars.contains((one) => one.isNodeWide).or(target.pattern !== undefined);
      const fix = `${own || SEE_POD}; ${DRIVER} answers${isNodeWide({ yes: hint, ...otherwise(() => "") })}`;
      const text = `has the driver ${name}, for which there is no registration socket in ${target.pluginRegistrationPath}`;
      const isWell = isRegistered.or(isJudged).or(isFolder(directory).not()).or(isNode.not());
      return isWell({
        ...{ yes: nothing, unknown: withhold },
        no: () => bad(path, text, fix, CAUSES.nodeInfo(name)),
      });
    }
  }
}

/** How a driver without a registration socket stands, as far as the driver itself shows. */
interface Standing {
  readonly kind: "silent" | "not-wanted" | "unclear" | "unsafe" | "twin" | "unpublished";
  readonly name: string;
  /** Why, or the other one's path. */
  readonly why: string;
}

function standingOf(driver: Driver): Standing {
  const { names, whyNot, isUnwanted, isUnclear, hasTwin, twins } = driver;
  const reason = silenceOf(driver) ?? "it says no name";
  const silent = (): Standing => ({ kind: "silent", name: "", why: reason });
  return names.first(isAny, { yes: standingOfNamed, ...otherwise(silent) });

  function standingOfNamed(name: string): Standing {
    const as =
      (kind: Standing["kind"], why = "") =>
      (): Standing => ({ kind, name, why });
    const named = judgeDriverName(name);
    const twin = () =>
      twins.first(isAny, {
        yes: ({ socket }) => as("twin", socket.path)(),
        ...otherwise(as("unpublished")),
      });
    const byTwin = () => hasTwin({ yes: twin, ...otherwise(as("unpublished")) });
    const byName = named.kind === "unsafe" ? as("unsafe", named.problem) : byTwin;
    const byPart = () => isUnclear({ yes: as("unclear"), ...otherwise(byName) });
    return isUnwanted({
      yes: () => whyNot.first(isAny, { yes: (why) => as("not-wanted", why)(), ...otherwise(byPart) }),
      ...otherwise(byPart),
    });
  }
}

const NO_DRIVER = "if a driver should listen there, see what does";
const SEE_PLUGIN = "if it is the node plugin, have it serve NodeGetInfo: see its flags and its log";

/** What is said of the process that certainly registers the driver, else of one that is node-wide; `other`: none is seen. */
export function byProcess(
  { socket: { inode } }: Pick<Driver, "socket">,
  { registrars }: View,
  yes: (one: RunningRegistrar) => string,
  other: string,
): string {
  const any = () => registrars.first((one) => one.isNodeWide, { yes, ...otherwise(() => other) });
  const isOwn = ({ socket }: RunningRegistrar) => inode !== undefined && socket.inode === inode;
  return registrars.first(isOwn, { yes, ...otherwise(any) });
}
const processText = ({ pid, isNodeWide }: RunningRegistrar) =>
  `${isNodeWide ? "a node-wide" : "its"} registrar (process ${pid})`;
export const seeProcess = (one: RunningRegistrar) =>
  `see the log, or /readyz, of ${processText(one)}: it runs, and has not published the driver`;
const SEE_POD =
  "see its registrar: is it running, or restarting again and again? kubectl describe pod says why";
/** Why a node-wide registrar may not have published a driver. */
const MAY_WAIT =
  "; a node-wide registrar may wait, as for file descriptors or after a change of name: see its /readyz or log";
const LEAVE_OUT = "; if it is to leave the driver out, give its --allow-drivers or --deny-drivers here";

/** Uninstalled drivers leave their sockets behind for ever: it is a problem only if the node has no other driver. */
function judgeDead({ socket, fits }: DeadSocket, view: View): Verdicts {
  // A driver that is named, and a registered one, are judged by other checks.
  const isRegistered = view.registrations.contains(
    ({ endpoint }) => endpoint !== undefined && isSameSocket(endpoint.socket, socket),
  );
  const text = "has no process that listens on it: the driver ended, or was uninstalled";
  const fix = `${ADVICE.startDriver}; delete the directory if the driver was uninstalled`;
  if (!view.isWhole) return undefined;
  const say = () => (fits ? warning : skipped)(socket.path, text, fix);
  const alone = () =>
    problem(socket.path, `${text}; this node has no other driver`, fix, CAUSES.down(socket));
  const left = () => view.isDeserted({ yes: alone, no: say, unknown: () => unsureOfOthers(say()) });
  return isRegistered({ yes: nothing, no: left, unknown: withhold });
}

const SEE_KUBELET = "see whether a kubelet watches that directory, by its --root-dir";

/** Registrars as the processes of this node show them, where their own sockets do not. */
const registrarProcesses = check("CSI024", "registrars", (view: View) => {
  const { bad, waiting, registrars, misplaced, watched } = view;
  // Of the registrars of all drivers only one works, and CSI018 says which drivers have several.
  const ofOne = registrars.filter(({ isNodeWide }) => !isNodeWide);
  const fix = `${ADVICE.startDriver}; or correct --csi-address, or the volume that both containers mount`;
  const where = `, which is not ${view.target.pluginRegistrationPath}`;
  return [
    waiting.map((one) => bad(SOME, waitingText(one), fix, CAUSES.down(one.socket))),
    misplaced.map((one) => {
      const unsure = () => skipped(SOME, misplacedText(one) + where, SEE_KUBELET);
      const sure = (path: string) => bad(SOME, misplacedText(one, path), moveTo(path));
      return watched.first<Verdict>(() => true, { yes: sure, ...otherwise(unsure) });
    }),
    ofOne
      .grouped(({ endpoint }) => endpoint)
      .map((ones) => {
        const [{ endpoint }] = ones;
        const text = `has ${ones.length} registrars on this node: processes ${ones.map(({ pid }) => pid).join(", ")}`;
        return ones.length > 1 ? warning(endpoint, text, LEAVE_ONE, CAUSES.duplicates(endpoint)) : undefined;
      }),
  ];
});

const SOME = "a registrar";
const moveTo = (watched: string) =>
  `mount the hostPath ${watched} at its registration directory, and have the driver's socket in the same kubelet root`;

export const foundChecks = [driversFound, registrarProcesses];

const rowOf = (state: string, reason: string | null, known: Partial<DriverRow> = {}): DriverRow => ({
  ...{ name: null, state, since: null, reason, csiSocket: null, registrationSocket: null },
  ...known,
});

/**
 * One row for each driver found anywhere: in the registration directory, under kubelet's plugins, by its flag, or by a process
 * that waits for it.
 */
export function driversIn(view: View): SeenList<DriverRow> {
  const { answering, drivers, registrations, waiting, misplaced, watched } = view;
  const published = answering.map((one) => publishedRow(one, view));
  const unpublished = drivers.flatMap((one) => unpublishedRow(one, view));
  // Registration sockets on which no registrar answers.
  const silent = registrations.flatMap(({ path, name, answer, socket }) => {
    if (!("trouble" in answer) || name === undefined || "fileType" in socket) return undefined;
    // Of several drivers, or where one may not be seen, any may be its driver: one that says no name, too.
    const own = unpublished.filter((row) => row.name === null || row.name === name).all();
    const one = own.kind === "seen" && own.value.length === 1 ? own.value[0] : undefined;
    const csiSocket = one?.name === name ? one.csiSocket : null;
    const row = rowOf(answer.trouble.state, `${path} ${answer.trouble.text}`, {
      name,
      csiSocket,
      registrationSocket: path,
    });
    return unlessIn(published, (other) => other.name === name, row);
  });
  const others = unpublished.flatMap((row) => {
    return silent.first<DriverRow | undefined>(({ name }) => name === row.name, {
      yes: ({ csiSocket, reason }) =>
        csiSocket === row.csiSocket
          ? undefined
          : { ...row, state: "unknown", reason: `${reason}; its driver is this one, or another of its name` },
      ...otherwise(() => row),
    });
  });
  const rowsOfWaiting = waiting.flatMap((one) => {
    const row = rowOf("waiting", `a registrar ${waitingText(one)}`, { csiSocket: one.endpoint });
    return unlessIn(others, ({ csiSocket }) => csiSocket === one.socket.path, row);
  });
  // A registrar of another directory is this node's only where a kubelet shows that it is wrong.
  const rowsOfMisplaced = misplaced.flatMap((one) =>
    watched.first(isAny, {
      yes: (path) =>
        rowOf("unpublished", `its registrar ${misplacedText(one, path)}`, { csiSocket: one.endpoint }),
      ...{ no: nothing, unknown: withhold },
    }),
  );
  return published.with(silent).with(others).with(rowsOfWaiting).with(rowsOfMisplaced);
}

/** The row, unless another one certainly shows the same. */
function unlessIn(rows: SeenList<DriverRow>, isSame: (row: DriverRow) => boolean, row: DriverRow) {
  return rows.contains(isSame)<DriverRow | undefined>({ yes: nothing, ...otherwise(() => row) });
}

/** The row of a driver that has no registration socket, or of which that is not known. */
function unpublishedRow(driver: Driver, view: View) {
  const { names, socket, isRegistered, isUnclear, isNode, isBeside } = driver;
  const name = names.first<string | null>(isAny, { yes: (one) => one, ...otherwise(() => null) });
  const known = { name, csiSocket: socket.path };
  return isRegistered.not().and(isUnclear.or(isNode)).and(isBeside.not())({
    yes: () => rowOf(...unpublishedState(driver, view), known),
    no: () => undefined,
    unknown: ([gap]) => rowOf("unknown", gapText(gap), known),
  });
}

function publishedRow(one: Answering, view: View): DriverRow {
  const { plugin, path } = one;
  const { report } = plugin;
  return rowOf(report?.state ?? "unreported", report?.reason ?? driverTrouble(one, view), {
    name: plugin.name,
    since: attempt(() => new Date(report?.changedAtMs ?? Number.NaN).toISOString()) ?? null,
    csiSocket: plugin.endpoint || path,
    registrationSocket: path,
  });
}

const misplacedText = ({ pid, directory }: RunningRegistrar, watched?: string): string =>
  `(process ${pid}) registers in ${directory}${watched === undefined ? "" : `; kubelet watches ${watched}`}`;

const waitingText = ({ pid, socket }: RunningRegistrar): string =>
  `(process ${pid}) waits for its driver: ${socket.path} ${socketText(socket)}`;

const NO_NODE_SERVICE =
  "answers NodeGetInfo with Unimplemented: a controller's socket, or a node plugin that kubelet refuses";

/** What is wrong with a published driver itself, as far as its socket is seen from here. */
function driverTrouble(one: Answering, view: View): string | null {
  const isThere = ({ socket }: Pick<Driver, "socket">) =>
    socketIs(socket, ({ kind }) => kind !== "unseen").or(isInSight(socket.path, view));
  const { endpoint } = one;
  const ofDriver = () =>
    view.drivers.first((driver) => isThere(driver).and(isOf(one, driver, view)), {
      yes: (driver) => silenceOf(driver) ?? null,
      ...otherwise(() => null),
    });
  if (endpoint === undefined) return ofDriver();
  return isThere(endpoint)({ yes: () => silenceOf(endpoint) ?? null, ...otherwise(ofDriver) });
}

/** The same, as a row of the table has it. */
function unpublishedState(driver: Driver, view: View): readonly [state: string, reason: string] {
  const standing = standingOf(driver);
  const failure = failureIn(driver.nodeInfo);
  const failed = failure && `the driver ${failure}`;
  const by = byProcess(driver, view, (one) => `${processText(one)} has not`, "no registrar has");
  switch (standing.kind) {
    case "not-wanted":
      return ["not-wanted", standing.why];
    case "unclear":
      return ["unknown", NO_NODE_SERVICE];
    case "silent":
      return ["unpublished", standing.why];
    case "unsafe":
      return ["unpublished", `a registrar refuses the driver's name: ${standing.why}`];
    case "twin":
      return ["unpublished", failed ?? `another driver has its name: ${standing.why}`];
    case "unpublished":
      return ["unpublished", failed ?? `the driver answers; ${by} published it`];
  }
}
