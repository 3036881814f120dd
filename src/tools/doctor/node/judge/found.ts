import { dirname } from "node:path";
import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import { check, ok, problem, skipped, unknown, type Verdicts, warning } from "../../findings/finding";
import { atLeast, mayBeSo } from "../../findings/least";
import { firstSeen, ifYes, nothing, type SeenList, type Truth, withheld, words } from "../../findings/seen";
import { LEAVE_ONE, namedText } from "../../findings/words";
import type { DriverLook } from "../read/looks";
import type { RunningRegistrar } from "../read/processes";
import type { SeenSocket } from "../read/socket";
import { ADVICE, CAUSES, DRIVER, remedyFor, silenceOf, socketText, unsureOfOthers } from "./trouble";
import { type DeadSocket, type Driver, isSame, type View } from "./view";

const driversFound = check("CSI020", "drivers-found", (view: View) => [
  view.drivers.map((one): Verdicts => {
    const judge = () => judgeFound(one, view);
    // CSI002 says nothing of one that it may not be.
    return atLeast(isOfNamed(one, view), { yes: nothing, least: judge, unknown: judge });
  }),
  view.deadSockets.map((one) => one.at.map((dead) => judgeDead(one, dead, view))),
]);

/** CSI002 judges a driver that was named, and says where it listens instead. */
function isOfNamed({ socket, isNamed }: Driver, { driver }: View): Truth {
  if (driver === undefined) return isNamed;
  const isBeside = dirname(driver.socket.path) === dirname(socket.path);
  return isNamed.or(driver.socket.at.is(({ kind }) => kind !== "accepting").and(isBeside));
}

const judgeFound = (driver: Driver, view: View): SeenList<Verdicts> =>
  driver.socket.at.map((there) =>
    there.kind === "accepting"
      ? judgeLiving(driver, view)
      : view.bad(driver.socket.path, socketText(there), ...remedyFor(there, view)),
  );

function judgeLiving(driver: Driver, view: View): Verdicts {
  const other = () => skipped(driver.socket.path, "does not speak HTTP/2, so it is no driver's", NO_DRIVER);
  return driver.spoken.is((one) => one === "other")({
    yes: () => ifYes(driver.isRegistered.not(), other),
    no: () => standingOf(driver).map((standing) => judgeStanding(standing, driver, view)),
    unknown: withheld,
  });
}

function judgeStanding(standing: Standing, driver: Driver, view: View): Verdicts {
  const { socket, mayBeNode, isWanted, isRegistered } = driver;
  const { answering, bad, folder, registrations, registrars, target } = view;
  const { path } = socket;
  const { name } = standing;
  switch (standing.kind) {
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
      return ifYes(mayBeNode.and(isWanted), say);
    }
    case "unpublished": {
      // CSI015 or CSI019 judges its registration socket.
      const isJudged = registrations.contains((one) =>
        one.isLeft.and(one.names.contains((own) => own === name)),
      );
      // CSI016 judges one of that name with another endpoint.
      const isPublished = answering.contains(({ plugin }) => plugin.name === name);
      const own = processesOf(driver, view);
      const mayWait = own.map(() => "").told(MAY_WAIT);
      const isNodeWide = registrars.contains((one) => one.isNodeWide).or(target.pattern !== undefined);
      const hint = ifYes(isNodeWide, () => words`${mayWait}${LEAVE_OUT}`).told("");
      const fix = words`${own.map(seeProcess).told(SEE_POD)}; ${DRIVER} answers${hint}`;
      const text = `has the driver ${name}, for which there is no registration socket in ${target.pluginRegistrationPath}`;
      const isWell = isRegistered
        .or(isJudged)
        .or(isPublished)
        .or(folder.contains().not())
        .or(mayBeNode.not());
      return ifYes(isWell.not(), () => bad(path, text, fix, CAUSES.nodeInfo(name)));
    }
  }
}

/** How a driver without a registration socket stands, as far as the driver itself shows. */
export interface Standing {
  readonly kind: "silent" | "not-wanted" | "unclear" | "unsafe" | "twin" | "unpublished";
  readonly name: string;
  /** Why, or the other one's path. */
  readonly why: string;
}

/** The first that is certain; none where the driver could not be asked for its name. */
export function standingOf(driver: Driver): SeenList<Standing> {
  const { names, whyNot, isRegistered, isUnwanted, mayBeUnclear, twins } = driver;
  const as =
    (kind: Standing["kind"], name: string) =>
    (why: string): Standing => ({ kind, name, why });
  const silent = silenceOf(driver).map(() => as("silent", "")("it says no name"));
  const named = names.flatMap((name) => {
    const verdict = judgeDriverName(name);
    const unsafe = verdict.kind === "unsafe" ? verdict.problem : "";
    return firstSeen(
      whyNot.filter(() => isUnwanted).map(as("not-wanted", name)),
      ifYes(mayBeUnclear.and(driver.isNamed.not()), () => as("unclear", name)("")),
      ifYes(isRegistered.not().and(unsafe !== ""), () => as("unsafe", name)(unsafe)),
      twins.map(({ socket }) => as("twin", name)(socket.path)),
      ifYes(isRegistered.not(), () => as("unpublished", name)("")),
    );
  });
  return firstSeen(silent, named);
}

const NO_DRIVER = "if a driver should listen there, see what does";
const SEE_PLUGIN = "if it is the node plugin, have it serve NodeGetInfo: see its flags and its log";

/** The process that certainly registers the driver, then those that are node-wide. */
export function processesOf(
  { socket: { inode } }: Pick<DriverLook, "socket">,
  { registrars }: View,
): SeenList<RunningRegistrar> {
  const isOwn = ({ socket }: RunningRegistrar) =>
    inode.is((one) => one !== undefined && one === socket.inode);
  return registrars.filter(isOwn).with(registrars.filter((one) => one.isNodeWide));
}
export const processText = ({ pid, isNodeWide }: RunningRegistrar) =>
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
function judgeDead(socket: DeadSocket, dead: SeenSocket, view: View): Verdicts {
  const { path, fits } = socket;
  // A driver that is named, and a registered one, are judged by other checks.
  const isRegistered = view.answering.contains(({ endpoint }) =>
    endpoint.is((one) => one !== undefined && isSame(one.socket, socket)),
  );
  const text = "has no process that listens on it: the driver ended, or was uninstalled";
  const fix = `${ADVICE.startDriver}; delete the directory if the driver was uninstalled`;
  if (!view.isForAll) return undefined;
  const skip = () => skipped(path, text, fix);
  const say = () => atLeast(fits, { yes: () => warning(path, text, fix), least: skip, unknown: skip });
  const alone = () => problem(path, `${text}; this node has no other driver`, fix, CAUSES.down(dead, path));
  const left = () =>
    atLeast(view.isDeserted, { yes: alone, least: say, unknown: () => unsureOfOthers(say()) });
  return ifYes(isRegistered.not(), left);
}

const SEE_KUBELET = "see whether a kubelet watches that directory, by its --root-dir";

/** Registrars as the processes of this node show them, where their own sockets do not. */
const registrarProcesses = check("CSI024", "registrars", (view: View) => {
  const { bad, waiting, registrars, misplaced, watched, processes } = view;
  // Of the registrars of all drivers only one works, and CSI018 says which drivers have several.
  const ofOne = registrars.filter(({ isNodeWide }) => !isNodeWide);
  const fix = `${ADVICE.startDriver}; or correct --csi-address, or the volume that both containers mount`;
  const where = `, which is not ${view.target.pluginRegistrationPath}`;
  return [
    waiting.map((one) => {
      const cause = one.csiSocketPath.map((path) => CAUSES.down(one.socket, path));
      return bad(SOME, waitingText(one), fix, cause.told(CAUSES.down(one.socket)));
    }),
    misplaced.map((one) => watched.map((path) => bad(SOME, misplacedText(one, path), moveTo(path)))),
    processes.registrars
      .filter(({ isElsewhere }) => mayBeSo(isElsewhere))
      .map((one) => {
        const say = () => skipped(SOME, misplacedText(one) + where, SEE_KUBELET);
        return atLeast(one.isElsewhere, { yes: nothing, least: say, unknown: withheld });
      }),
    ofOne
      .grouped(({ endpoint }) => endpoint)
      .map((ones) => {
        const { endpoint } = ones.first;
        const text = words`has ${ones.counted("registrar")} on this node: processes ${ones.joined(({ pid }) => `${pid}`)}`;
        const say = () => warning(endpoint, text, LEAVE_ONE, CAUSES.duplicates(endpoint));
        return ifYes(ones.others.contains(), say);
      }),
  ];
});

const SOME = "a registrar";
const moveTo = (watched: string) =>
  `mount the hostPath ${watched} at its registration directory, and have the driver's socket in the same kubelet root`;

export const foundChecks = [driversFound, registrarProcesses];

export const misplacedText = ({ pid, directory }: RunningRegistrar, watched?: string): string =>
  `(process ${pid}) registers in ${directory}${watched === undefined ? "" : `; kubelet watches ${watched}`}`;

export const waitingText = ({ pid, socket }: RunningRegistrar): string =>
  `(process ${pid}) waits for its driver: ${socket.path} ${socketText(socket)}`;

export const NO_NODE_SERVICE =
  "answers NodeGetInfo with Unimplemented: a controller's socket, or a node plugin that kubelet refuses";
