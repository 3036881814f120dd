import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import { check, grouped, ok, problem, unknown, unread, type Verdict, warning } from "../../findings/finding";
import { LEAVE_ONE } from "../../findings/words";
import { misplacedText, NO_NODE_SERVICE, waitingText } from "./rows";
import {
  DRIVER,
  downCause,
  duplicatesCause,
  nodeInfoCause,
  remedyFor,
  remedyForErrno,
  START_DRIVER,
  socketText,
} from "./sockets";
import type { Driver, View } from "./view";

const driversFound = check("CSI020", "drivers-found", (view: View) => {
  const { drivers, leftOut, unreadPaths, deadSockets } = view;
  return [
    ...drivers.map((one) => (one.isNamed ? undefined : judgeFound(one, view))),
    ...leftOut.map(({ path, fileSystem }) => {
      const text = `is a mount of ${fileSystem} and was not inspected: its server might hang`;
      return unknown(path, text, "put the driver's socket on the node's own disk");
    }),
    ...unreadPaths.map(({ path, errno }) => {
      const text = `cannot be inspected, so drivers there are not seen: ${errno}`;
      return unread(path, text, remedyForErrno(errno, view));
    }),
    ...deadSockets.map((one) => judgeDead(one, view)),
  ];
});

function judgeFound(driver: Driver, view: View): Verdict | undefined {
  const { socket, name, unwanted, twin } = driver;
  const { bad, directory, registrations, registrars, target } = view;
  const { path } = socket;
  if (socket.kind !== "accepting") return bad(path, socketText(socket), ...remedyFor(socket, view));
  // Other plugins have their sockets here too. CSI003 and CSI004 judge a driver without a name or with an unsafe one.
  if (name === undefined) return undefined;
  if (unwanted !== undefined)
    return ok(path, `has the driver ${name}, not to be registered, as configured: ${unwanted}`);
  if (driver.isUnclear) return unread(path, `has the driver ${name}, which ${NO_NODE_SERVICE}`, SEE_PLUGIN);
  if (judgeDriverName(name).kind === "unsafe" || !driver.isNode) return undefined;
  // Their registration has the name of both: where its endpoint cannot be seen, either may be the one too many.
  const both = `has a driver called ${name}, as has ${twin}: only one of them can be registered`;
  if (twin !== undefined)
    return bad(path, both, "remove one of the two deployments", { kind: "twins", driver: name });
  // CSI015 or CSI019 judges its registration socket.
  const isJudged = registrations.some((one) => one.isLeft && one.name === name);
  if (driver.isRegistered || isJudged || directory.kind !== "directory") return undefined;
  const isNodeWide = target.pattern !== undefined || registrars.some((one) => one.isNodeWide);
  const text = `has the driver ${name}, for which there is no registration socket in ${directory.path}`;
  const fix = `see its registrar: is it running, or restarting again and again? kubectl describe pod says why; ${DRIVER} answers${isNodeWide ? NODE_WIDE : ""}`;
  return bad(path, text, fix, nodeInfoCause(name));
}

const SEE_PLUGIN = "if it is the node plugin, have it serve NodeGetInfo: see its flags and its log";

/** Why a node-wide registrar may not have published a driver. */
const NODE_WIDE =
  "; a node-wide registrar can run out of file descriptors: see its log; if it is to leave the driver out, give its --allow-drivers or --deny-drivers here";

/** Uninstalled drivers leave their sockets behind for ever: it is a problem only if the node has no other driver. */
function judgeDead({ socket, fits }: View["deadSockets"][number], view: View): Verdict | undefined {
  // A driver that is named, and a registered one, are judged by other checks.
  const isRegistered = view.registrations.some(({ endpoint }) => endpoint?.socket.inode === socket.inode);
  if (isRegistered || !view.isWhole) return undefined;
  const text = "has no process that listens on it: the driver ended, or was uninstalled";
  const fix = `${START_DRIVER}; delete the directory if the driver was uninstalled`;
  if (view.isDeserted)
    return problem(socket.path, `${text}; this node has no other driver`, fix, downCause(socket));
  return (fits ? warning : unknown)(socket.path, text, fix);
}

/** Registrars as the processes of this node show them, where their own sockets do not. */
const registrarProcesses = check("CSI024", "registrars", (view: View) => {
  const { bad, waiting, registrars, misplaced, watched, processes } = view;
  const fix = `${START_DRIVER}; or correct --csi-address, or the volume that both containers mount`;
  const shared = [...grouped(registrars, ({ endpoint }) => endpoint)]
    .filter(([, ones]) => ones.length > 1)
    .map(([endpoint, ones]) => {
      const pids = ones.map(({ pid }) => pid).join(", ");
      const text = `has ${ones.length} registrars on this node: processes ${pids}`;
      return warning(endpoint, text, LEAVE_ONE, duplicatesCause(endpoint));
    });
  return [
    ...waiting.map((one) => bad("a registrar", waitingText(one), fix, downCause(one.socket))),
    ...misplaced.map((one) =>
      watched === undefined
        ? unknown("a registrar", `${misplacedText(one, view)}, which is not ${view.directory.path}`)
        : bad("a registrar", misplacedText(one, view), moveTo(watched)),
    ),
    ...shared,
    ...processes.unread.map(({ what, errno }) =>
      unread(what, `cannot be inspected: ${errno}`, remedyForErrno(errno, view)),
    ),
  ];
});

const moveTo = (watched: string) =>
  `mount the hostPath ${watched} at its registration directory, and have the driver's socket in the same kubelet root`;

export const foundChecks = [driversFound, registrarProcesses];
