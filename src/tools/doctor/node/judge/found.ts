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
import { ifYes, orElse, otherwise, type SeenList, type Truth, truth, withheld } from "../../findings/seen";
import { LEAVE_ONE, namedText } from "../../findings/words";
import type { DriverLook } from "../read/looks";
import type { RunningRegistrar } from "../read/processes";
import type { SeenSocket } from "../read/socket";
import {
  ADVICE,
  CAUSES,
  DRIVER,
  failureIn,
  gapText,
  predicateOf,
  remedyFor,
  silenceOf,
  socketText,
  unsureOfOthers,
} from "./trouble";
import {
  type Answering,
  type DeadSocket,
  type Driver,
  isInSight,
  isOf,
  isSame,
  soleIn,
  type View,
} from "./view";

const driversFound = check("CSI020", "drivers-found", (view: View) => [
  view.drivers.map((one): Verdicts => {
    const judge = () => judgeFound(one, view);
    return isOfNamed(one, view)({ yes: () => undefined, ...orElse(judge) });
  }),
  view.deadSockets.map((one) => one.at.map((dead) => judgeDead(one, dead, view))),
]);

/** CSI002 judges a driver that was named, and says where it listens instead. */
function isOfNamed({ socket, isNamed }: Driver, { driver }: View): Truth {
  if (isNamed || driver === undefined) return truth(isNamed);
  const isBeside = dirname(driver.socket.path) === dirname(socket.path);
  return driver.identity.is(({ kind }) => kind === "unasked").and(isBeside);
}

const judgeFound = (driver: Driver, view: View): Verdicts =>
  driver.socket.at.map((there) =>
    there.kind === "accepting"
      ? driver.spoken.map((spoken) => judgeLiving(driver, spoken === "other", view))
      : view.bad(driver.socket.path, socketText(there), ...remedyFor(there, view)),
  );

function judgeLiving(driver: Driver, isOther: boolean, view: View): Verdicts {
  const { socket, isNode, isWanted, isRegistered } = driver;
  const { bad, folder, registrations, registrars, target } = view;
  const { path } = socket;
  const other = () => skipped(path, "does not speak HTTP/2, so it is no driver's", NO_DRIVER);
  if (isOther) return ifYes(isRegistered.not(), other);
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
      return ifYes(isNode.and(isWanted), say);
    }
    case "unpublished": {
      // CSI015 or CSI019 judges its registration socket.
      const isJudged = registrations.contains((one) => one.isLeft.and(one.name === name));
      const own = byProcess(driver, view, seeProcess, "");
      const hint = () => (own ? "" : MAY_WAIT) + LEAVE_OUT;
      const isNodeWide = registrars.contains((one) => one.isNodeWide).or(target.pattern !== undefined);
      const fix = `${own || SEE_POD}; ${DRIVER} answers${isNodeWide({ yes: hint, ...otherwise(() => "") })}`;
      const text = `has the driver ${name}, for which there is no registration socket in ${target.pluginRegistrationPath}`;
      const isWell = isRegistered.or(isJudged).or(folder.contains().not()).or(isNode.not());
      return ifYes(isWell.not(), () => bad(path, text, fix, CAUSES.nodeInfo(name)));
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
  const silent = (): Standing => ({ kind: "silent", name: "", why: reasonOf(driver) ?? "it says no name" });
  return names.some({ yes: ([name]) => standingOfNamed(name), ...otherwise(silent) });

  function standingOfNamed(name: string): Standing {
    const as =
      (kind: Standing["kind"], why = "") =>
      (): Standing => ({ kind, name, why });
    const named = judgeDriverName(name);
    const twin = () =>
      twins.some({
        yes: ([{ socket }]) => as("twin", socket.path)(),
        ...otherwise(as("unpublished")),
      });
    const byTwin = () => hasTwin({ yes: twin, ...otherwise(as("unpublished")) });
    const byName = named.kind === "unsafe" ? as("unsafe", named.problem) : byTwin;
    const byPart = () => isUnclear({ yes: as("unclear"), ...otherwise(byName) });
    return isUnwanted({
      yes: () => whyNot.some({ yes: ([why]) => as("not-wanted", why)(), ...otherwise(byPart) }),
      ...otherwise(byPart),
    });
  }
}

const NO_DRIVER = "if a driver should listen there, see what does";
const SEE_PLUGIN = "if it is the node plugin, have it serve NodeGetInfo: see its flags and its log";

/** What is said of the process that certainly registers the driver, else of one that is node-wide; `other`: none is seen. */
export function byProcess(
  { socket: { inode } }: Pick<DriverLook, "socket">,
  { registrars }: View,
  yes: (one: RunningRegistrar) => string,
  other: string,
): string {
  const byFirst = ([one]: readonly [RunningRegistrar, ...unknown[]]) => yes(one);
  const nodeWide = registrars.filter((one) => one.isNodeWide);
  const any = () => nodeWide.some({ yes: byFirst, ...otherwise(() => other) });
  const isOwn = ({ socket }: RunningRegistrar) =>
    inode.is((one) => one !== undefined && one === socket.inode);
  return registrars.filter(isOwn).some({ yes: byFirst, ...otherwise(any) });
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

/** Why a driver does not say its name, or may not; null if it does. */
const reasonOf = (driver: Pick<DriverLook, "socket" | "identity">): string | null =>
  silenceOf(driver).some<string | null>({
    yes: ([text]) => text,
    no: () => null,
    unknown: ([gap]) => `the driver ${predicateOf(gap)}`,
  });

/** Uninstalled drivers leave their sockets behind for ever: it is a problem only if the node has no other driver. */
function judgeDead(socket: DeadSocket, dead: SeenSocket, view: View): Verdicts {
  const { path, fits } = socket;
  // A driver that is named, and a registered one, are judged by other checks.
  const isRegistered = view.answering.contains(
    ({ endpoint }) => endpoint !== undefined && isSame(endpoint.socket, socket),
  );
  const text = "has no process that listens on it: the driver ended, or was uninstalled";
  const fix = `${ADVICE.startDriver}; delete the directory if the driver was uninstalled`;
  if (!view.isWhole) return undefined;
  const say = () => (fits ? warning : skipped)(path, text, fix);
  const alone = () => problem(path, `${text}; this node has no other driver`, fix, CAUSES.down(dead));
  const left = () => view.isDeserted({ yes: alone, no: say, unknown: () => unsureOfOthers(say()) });
  return ifYes(isRegistered.not(), left);
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
      const sure = ([path]: readonly [string, ...string[]]) =>
        bad(SOME, misplacedText(one, path), moveTo(path));
      return watched.some<Verdict>({ yes: sure, ...otherwise(unsure) });
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
  const silent = registrations.flatMap(({ path, name, answer }) => {
    if (name === undefined) return undefined;
    // Of several drivers, or where one may not be seen, any may be its driver: one that says no name, too.
    const sole = soleIn(unpublished.filter((row) => row.name === null || row.name === name));
    const own = sole.filter((row) => row.name === name);
    const say = (state: string, text: string) => {
      const csiSocket = own.some<string | null>({ yes: ([row]) => row.csiSocket, ...otherwise(() => null) });
      const row = rowOf(state, `${path} ${text}`, { name, csiSocket, registrationSocket: path });
      return unlessIn(published, (other) => other.name === name, row);
    };
    return answer({
      seen: (one) => (one.kind === "plugin" || one.isFile ? [] : say(one.trouble.state, one.trouble.text)),
      unread: (gap) => say("unknown", predicateOf(gap)),
    });
  });
  const others = unpublished.flatMap((row) => {
    const same = silent.filter(({ name }) => name === row.name);
    return same.some<DriverRow | undefined>({
      yes: ([{ csiSocket, reason }]) =>
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
    watched.some({
      yes: ([path]) =>
        rowOf("unpublished", `its registrar ${misplacedText(one, path)}`, { csiSocket: one.endpoint }),
      ...otherwise(() => withheld),
    }),
  );
  return published.with(silent).with(others).with(rowsOfWaiting).with(rowsOfMisplaced);
}

/** The row, unless another one certainly shows the same. */
function unlessIn(rows: SeenList<DriverRow>, isSame: (row: DriverRow) => boolean, row: DriverRow) {
  return rows.contains(isSame)<readonly DriverRow[]>({ yes: () => [], ...otherwise(() => [row]) });
}

/** The row of a driver that has no registration socket, or of which that is not known. */
function unpublishedRow(driver: Driver, view: View) {
  const { names, socket, isRegistered, isUnclear, isNode, isBeside } = driver;
  const name = names.some<string | null>({ yes: ([one]) => one, ...otherwise(() => null) });
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
  const isThere = ({ socket }: Pick<DriverLook, "socket">) =>
    socket.at.is(({ kind }) => kind !== "unseen").or(isInSight(socket.path, view));
  const { endpoint } = one;
  const own = view.drivers.filter((driver) => isThere(driver).and(isOf(one, driver, view.target)));
  const ofDriver = () =>
    own.some<string | null>({ yes: ([driver]) => reasonOf(driver), ...otherwise(() => null) });
  if (endpoint === undefined) return ofDriver();
  return isThere(endpoint)<string | null>({ yes: () => reasonOf(endpoint), ...otherwise(ofDriver) });
}

/** The same, as a row of the table has it. */
function unpublishedState(driver: Driver, view: View): readonly [state: string, reason: string] {
  const standing = standingOf(driver);
  const orFailure = (text: string) =>
    driver.nodeInfo({
      seen: (answer) => failureIn(answer) ?? text,
      unread: (gap) => `the driver ${predicateOf(gap)}`,
    });
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
      return ["unpublished", orFailure(`another driver has its name: ${standing.why}`)];
    case "unpublished":
      return ["unpublished", orFailure(`the driver answers; ${by} published it`)];
  }
}
