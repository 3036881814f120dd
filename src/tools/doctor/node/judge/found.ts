import { dirname } from "node:path";
import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import { check, grouped, ok, problem, unknown, unread, type Verdict, warning } from "../../findings/finding";
import { LEAVE_ONE } from "../../findings/words";
import { sayGaps } from "./gaps";
import { misplacedText, NO_NODE_SERVICE, waitingText } from "./rows";
import {
  DRIVER,
  downCause,
  duplicatesCause,
  nodeInfoCause,
  remedyFor,
  START_DRIVER,
  socketText,
} from "./sockets";
import { type DeadSocket, type Driver, isSameSocket, type View } from "./view";

const driversFound = check("CSI020", "drivers-found", (view: View) => [
  ...view.drivers.each((one) => (one.isNamed || isOfNamed(one, view) ? undefined : judgeFound(one, view))),
  sayGaps(view, "sockets"),
  ...view.deadSockets.each((one) => judgeDead(one, view)),
]);

/** CSI002 says of a driver that was named where it listens instead. */
const isOfNamed = ({ socket }: Driver, { driver }: View): boolean =>
  driver !== undefined &&
  driver.identity === undefined &&
  dirname(driver.socket.path) === dirname(socket.path);

function judgeFound(driver: Driver, view: View): Verdict | undefined {
  const { socket, name, unwanted, twin, isNode } = driver;
  const { bad, folder, registrations, registrars, target } = view;
  const { path } = socket;
  if (socket.kind !== "accepting") return bad(path, socketText(socket), ...remedyFor(socket, view));
  // Other plugins have their sockets here too. CSI003 and CSI004 judge a driver without a name or with an unsafe one.
  if (name === undefined) return undefined;
  if (unwanted !== undefined)
    return ok(path, `has the driver ${name}, not to be registered, as configured: ${unwanted}`);
  const unclear = driver.isUnclear.ifYes(() =>
    unread(path, `has the driver ${name}, which ${NO_NODE_SERVICE}`, SEE_PLUGIN),
  );
  if (unclear !== undefined) return unclear;
  if (judgeDriverName(name).kind === "unsafe") return undefined;
  // Their registration has the name of both: where its endpoint cannot be seen, either may be the one too many.
  const both = `has a driver called ${name}, as has ${twin}: only one of them can be registered`;
  if (twin !== undefined)
    return isNode.ifYes(() =>
      bad(path, both, "remove one of the two deployments", { kind: "twins", driver: name }),
    );
  // CSI015 or CSI019 judges its registration socket.
  const isJudged = registrations.contains((one) => one.isLeft && one.name === name);
  const isNodeWide = target.pattern !== undefined || registrars.known((one) => one.isNodeWide) !== undefined;
  const fix = `see its registrar: is it running, or restarting again and again? kubectl describe pod says why; ${DRIVER} answers${isNodeWide ? NODE_WIDE : ""}`;
  return driver.isRegistered
    .or(isJudged)
    .or(folder === undefined)
    .or(isNode.not())
    .ifNo(() => {
      const text = `has the driver ${name}, for which there is no registration socket in ${target.pluginRegistrationPath}`;
      return bad(path, text, fix, nodeInfoCause(name));
    });
}

const SEE_PLUGIN = "if it is the node plugin, have it serve NodeGetInfo: see its flags and its log";

/** Why a node-wide registrar may not have published a driver. */
const NODE_WIDE =
  "; a node-wide registrar can run out of file descriptors: see its log; if it is to leave the driver out, give its --allow-drivers or --deny-drivers here";

/** Uninstalled drivers leave their sockets behind for ever: it is a problem only if the node has no other driver. */
function judgeDead({ socket, fits }: DeadSocket, view: View): Verdict | undefined {
  // A driver that is named, and a registered one, are judged by other checks.
  const isRegistered = view.registrations.contains(
    ({ endpoint }) => endpoint !== undefined && isSameSocket(endpoint.socket, socket),
  );
  const text = "has no process that listens on it: the driver ended, or was uninstalled";
  const fix = `${START_DRIVER}; delete the directory if the driver was uninstalled`;
  if (!view.isWhole) return undefined;
  const say = () => (fits ? warning : unknown)(socket.path, text, fix);
  const alone = () => problem(socket.path, `${text}; this node has no other driver`, fix, downCause(socket));
  return isRegistered.ifNo(() => view.isDeserted({ yes: alone, no: say, unknown: say }));
}

/** Registrars as the processes of this node show them, where their own sockets do not. */
const registrarProcesses = check("CSI024", "registrars", (view: View) => {
  const { bad, waiting, registrars, misplaced, watched } = view;
  const fix = `${START_DRIVER}; or correct --csi-address, or the volume that both containers mount`;
  const shared = [
    ...grouped(
      registrars.each((one) => one),
      ({ endpoint }) => endpoint,
    ),
  ]
    .filter(([, ones]) => ones.length > 1)
    .map(([endpoint, ones]) => {
      const pids = ones.map(({ pid }) => pid).join(", ");
      const text = `has ${ones.length} registrars on this node: processes ${pids}`;
      return warning(endpoint, text, LEAVE_ONE, duplicatesCause(endpoint));
    });
  return [
    ...waiting.each((one) => bad("a registrar", waitingText(one), fix, downCause(one.socket))),
    ...misplaced.each((one) =>
      watched === undefined
        ? unknown(
            "a registrar",
            `${misplacedText(one, view)}, which is not ${view.target.pluginRegistrationPath}`,
          )
        : bad("a registrar", misplacedText(one, view), moveTo(watched)),
    ),
    ...shared,
    sayGaps(view, "processes"),
  ];
});

const moveTo = (watched: string) =>
  `mount the hostPath ${watched} at its registration directory, and have the driver's socket in the same kubelet root`;

export const foundChecks = [driversFound, registrarProcesses];
