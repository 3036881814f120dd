import { dirname } from "node:path";
import type { NodeGetInfoResponse } from "../../../../grpc/protos";
import { isPattern } from "../../../../host-path/path-pattern";
import { invalidCsiNodeDriver, invalidLabels } from "../../../../kubelet-rules/api-refusals";
import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import { isWithin } from "../../../../unix/mounts";
import type { Cause } from "../../findings/causes";
import {
  check,
  ok,
  problem,
  softened,
  unknown,
  unsure,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { atLeast } from "../../findings/least";
import { judgeDriverPlace } from "../../findings/registration-directory";
import {
  type CallFailure,
  firstIn,
  type Gap,
  ifYes,
  otherwise,
  type SeenList,
  type Truth,
  withheld,
} from "../../findings/seen";
import { callText } from "../../findings/why";
import { firstOf, namedText } from "../../findings/words";
import { pathOnHost } from "../read/files";
import type { DriverLook, SocketLook } from "../read/looks";
import { isWrittenAlike, type PathOnHost } from "../read/paths";
import { hasNoSocket, type SeenSocket } from "../read/socket";
import {
  ADVICE,
  belowRoot,
  CAUSES,
  DRIVER,
  fixOfPath,
  ownershipText,
  remedyFor,
  remedyForGap,
  socketText,
  unseenText,
} from "./trouble";
import { type Driver, pathFix, type View } from "./view";

const GIVEN = "is the path that kubelet dials";
const LEAD = `${GIVEN}; it `;
const NAME_NODE =
  "tell the driver its node's name, as its own documentation says: often by an environment variable";
const FEWER_SEGMENTS =
  "have the driver answer fewer topology segments: the API server stores them as labels of the Node, and no object over 1.5 MiB";

const driverSocket = check("CSI002", "driver-socket", (view: View) => {
  const { driver, target } = view;
  if (driver !== undefined) return judgeSocket(driver.socket, view);
  if (target.pattern === undefined) return undefined;
  return ok(target.pattern, "is a pattern: each socket that fits is looked at");
});

const kubeletPath = check("CSI007", "kubelet-path", (view: View) => {
  const { kubeletRegistrationPath } = view.target;
  return kubeletRegistrationPath === undefined ? undefined : judgeKubeletPath(kubeletRegistrationPath, view);
});

function judgeKubeletPath(path: PathOnHost, view: View): Verdicts {
  const { kubeletPath: found, hostPath } = view;
  if (found === undefined || !path.startsWith("/"))
    return problem(path, "is not an absolute path", "give the path of the driver's socket on the host");
  const misplaced = judgeDriverPlace(path, path, "lies");
  if (misplaced !== undefined) return misplaced;
  const isWrong = hostPath.items((one) =>
    one.kind === "wrong"
      ? problem(path, `${GIVEN}; ${one.problem}`, fixOfPath(one), { kind: "host-path" })
      : undefined,
  );
  // What is there may show it, whatever the mounts tell.
  const byMounts = () => firstIn(isWrong, judgeByLook(path, found, view));
  return found.isHidden({
    yes: byMounts,
    no: () => found.at.map(({ kind }) => (kind === "too-long" ? judgeSocket(found, view) : byMounts())),
    unknown: ([gap]) => unseen(path, gap, view, LEAD),
  });
}

const ELSEWHERE = [
  "is not there, and kubelet dials this path",
  "correct the path: the driver listens elsewhere",
] as const;
const OTHER = [
  "is a different socket from that of --csi-address",
  "make both flags name the same socket",
] as const;

function judgeByLook(path: PathOnHost, found: SocketLook, view: View): SeenList<Verdicts> {
  const { driver } = view;
  const { csiSocketPath } = view.target;
  const isOwn = isWrittenAlike(csiSocketPath, path);
  const asItIs = () =>
    found.at.map(({ kind }) =>
      kind === "accepting"
        ? ok(path, `${GIVEN}, and accepts connections`)
        : judgeSocket(found, view, LEAD, path),
    );
  const { hostRoot = "/" } = view.target;
  const without = {
    fix: "kubelet has the path without --host-root: write",
    command: `--kubelet-registration-path=${pathOnHost(hostRoot, path)}`,
  };
  const isBelow = hostRoot !== "/" && isWithin(path, hostRoot);
  const cannotSee = () =>
    unknown(path, `${GIVEN}; it cannot be seen from here`, isBelow ? without : undefined);
  const byMounts = () =>
    view.hostPath({
      seen: () => ok(path, `${GIVEN}, and it fits the mounts of this container`),
      unread: cannotSee,
    });
  const byDriver = ({ socket }: DriverLook, kind: SeenSocket["kind"]) => {
    const [text, advice] = kind === "missing" ? ELSEWHERE : OTHER;
    const other = () => problem(path, text, pathFix(socket, view, advice));
    const isOther = socket.inode.is((own) => own !== undefined && found.inode.is((its) => its !== own));
    const isLiving = socket.at.is((own) => own.kind === "accepting");
    const isWrong = kind === "missing" ? isLiving : isOther.and(kind === "accepting");
    return isWrong({ yes: other, ...otherwise(asItIs) });
  };
  const look = () =>
    found.at.map(({ kind }): Verdicts => {
      if (isPattern(path)) return byMounts();
      const judge = () => (driver === undefined ? asItIs() : byDriver(driver, kind));
      // The same path may be another socket here than on the host.
      return isOwn ? view.hostPath({ seen: judge, unread: cannotSee }) : judge();
    });
  const compare = () =>
    found.at.map(({ kind }) => {
      if (driver === undefined || (!isOwn && ["missing", "no-directory"].includes(kind))) return look();
      return driver.socket.at.is(hasNoSocket)({
        yes: () => unknown(path, `${GIVEN}; there is no socket at ${csiSocketPath} to compare it with`),
        ...otherwise(look),
      });
    });
  return found.isHidden.say({ yes: byMounts, no: compare, unknown: withheld });
}

const unseen = (path: string, gap: Gap, view: View, lead: string) => {
  const advice = remedyForGap(gap, view);
  const fix = gap.why.kind === "unmounted" ? belowRoot("csi-address", path, view.target, advice) : advice;
  return unknown(path, lead + unseenText(gap), fix);
};

/** Judges what is in the place of a driver's socket; `lead` goes before what is wrong with it. */
const judgeSocket = ({ path, at }: SocketLook, view: View, lead = "", subject: string = path): Verdict =>
  at({
    seen: (socket) => judgeSeen({ ...socket, path }, view, lead, subject),
    unread: (gap) => unseen(subject, gap, view, lead),
  });

function judgeSeen(socket: SeenSocket, view: View, lead: string, subject: string): Verdict {
  const { path, kind } = socket;
  const [fix, cause] = remedyFor(socket, view, view.target.csiSocketPath);
  // The socket's own finding has the errno.
  const isLed = lead !== "" && kind === "dead";
  const text = isLed ? `${GIVEN}, but no process listens there` : lead + socketText(socket);
  if (kind === "accepting") return ok(subject, `${text} (${ownershipText(socket.ownership)})`);
  const beside = view.drivers
    .filter((other) => cause !== undefined && dirname(other.socket.path) === dirname(path))
    .flatMap((other) => other.names.map((name) => ({ name, at: other.socket.path })));
  const correction = beside
    .map(({ name, at }) => `the driver ${name} listens on ${at}: correct the path`)
    .told(fix);
  return problem(subject, text, correction, cause);
}

type JudgeDriver = (driver: Driver, subject: string, view: View) => Verdicts;

/** A check of the driver that was named and of those that were found and are wanted. */
function driverCheck(code: string, name: string, judge: JudgeDriver) {
  return check(code, name, (view: View) => [
    view.drivers.map((driver): Verdicts => {
      const { socket, mayBeNode, isDialled, mayBeWanted } = driver;
      const found = (): Verdicts => {
        const verdicts = judge(driver, `${DRIVER} on ${socket.path}`, view);
        // Beside a driver that was named, what is wrong with others is worth a warning.
        return view.isForAll ? verdicts : softened(verdicts, "problem", "warning");
      };
      // CSI020 judges a socket that accepts no connection.
      const isLiving = socket.at.is(({ kind }) => kind === "accepting");
      const other = () => ifYes(isLiving.and(mayBeNode.or(isDialled)).and(mayBeWanted), found);
      // What is said of another one is true of the one that was named, too.
      return atLeast(driver.isNamed, {
        yes: () => judge(driver, DRIVER, view),
        ...{ least: other, unknown: other },
      });
    }),
  ]);
}

const SEE_BESIDE = "see what listens there: if it is not for CSI, nothing is wrong";

const judgeIdentity: JudgeDriver = (driver, subject, view) => {
  const { identity, socket, isBeside } = driver;
  const unasked = (cause?: Cause) =>
    unknown(subject, "could not be asked for its name, readiness and node information", undefined, cause);
  const judge = (there: SeenSocket) => {
    // What is wrong with its socket says why.
    if (there.kind !== "accepting") return unasked(remedyFor(there, view, view.target.csiSocketPath)[1]);
    return identity.map((answer) => {
      if (answer.kind === "failed") return judgeFailure(answer, there, subject, isBeside);
      const { name, vendorVersion } = answer.value;
      const version = vendorVersion || "unknown";
      return ok(namedText(name), `is what ${subject} answers to GetPluginInfo, version ${version}`);
    });
  };
  return socket.at({ seen: judge, unread: () => unasked() });
};

function judgeFailure(failure: CallFailure, there: SeenSocket, subject: string, isBeside: Truth) {
  const fixes: Readonly<Record<string, string>> = {
    DeadlineExceeded: `${ADVICE.driverHangs}; if it is only slow, raise --timeout`,
    Unimplemented: "correct --csi-address: it names another plugin's socket",
  };
  const text = callText(failure);
  const fix = fixes[failure.code] ?? ADVICE.seeDriver;
  const bad = () => problem(subject, text, fix, CAUSES.nameless(there));
  return isBeside({
    yes: () => warning(subject, `${text}; a driver with a registrar answers beside it`, SEE_BESIDE),
    no: bad,
    unknown: () => unsure(bad()),
  });
}

const judgeName: JudgeDriver = ({ identity }) =>
  identity.map((answer) => {
    if (answer.kind !== "answered") return undefined;
    const { name } = answer.value;
    const verdict = judgeDriverName(name);
    if (verdict.kind === "valid") return ok(name, "is a legal name");
    const fix = "give the driver another name: the API server refuses this one";
    // Kubelet refuses it in the same words as a wrong answer to NodeGetInfo.
    return problem(namedText(name), `is an illegal name: ${verdict.problem}`, fix, CAUSES.nodeInfo(name));
  });

const judgeInfo: JudgeDriver = ({ nodeInfo, names }, subject) =>
  names.map((name) =>
    nodeInfo.map((info) => {
      // An illegal name is the first cause of a refusal.
      const cause = judgeDriverName(name).kind !== "valid" ? undefined : CAUSES.nodeInfo(name);
      if (info.kind === "answered") return judgeNodeInfo(name, subject, info.value, cause);
      const fixes: Readonly<Record<string, string>> = {
        DeadlineExceeded: ADVICE.noMetadata,
        Unimplemented: "name the socket of the driver's node plugin, not the controller's",
      };
      const text = `${callText(info)}; kubelet registers no driver without that answer`;
      const fix = info.isTooLarge ? FEWER_SEGMENTS : (fixes[info.code] ?? ADVICE.seeDriver);
      return problem(subject, text, fix, cause);
    }),
  );

function judgeNodeInfo(name: string, subject: string, info: NodeGetInfoResponse, cause: Cause | undefined) {
  const { nodeId, maxVolumesPerNode, accessibleTopology } = info;
  if (nodeId === "") {
    const text = "answers NodeGetInfo with an empty node ID, which kubelet refuses";
    return problem(subject, text, NAME_NODE, cause);
  }
  const topology = accessibleTopology?.segments ?? {};
  // Another check judges the name.
  const why = invalidCsiNodeDriver("this", { name: "x", nodeId }) ?? invalidLabels("this", topology);
  if (why !== undefined) {
    const text = `answers NodeGetInfo with a value that the API server refuses: ${why}`;
    return problem(subject, text, "correct the driver's settings", cause);
  }
  const segments = Object.entries(topology).map(([key, value]) => `${key}=${value}`);
  const place = segments.length > 0 ? `topology ${firstOf(segments)}` : "no topology";
  // Kubelet registers the driver, and logs "Invalid attach limit value" (installDriverToCSINode, nodeinfomanager.go).
  if (maxVolumesPerNode < 0) {
    const text = `answers NodeGetInfo with max_volumes_per_node ${maxVolumesPerNode}: CSI forbids it, and kubelet writes no limit`;
    return warning(subject, text, "have the driver answer 0 for no limit: see its settings");
  }
  const volumes = maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "any number of volumes";
  return ok(nodeId, `is the node ID of ${name}; ${place}; ${volumes}`);
}

/** What the driver answers. */
export const judgeDriver = (driver: Driver, view: View): Verdicts =>
  [judgeIdentity, judgeName, judgeInfo].map((judge) => judge(driver, DRIVER, view));

export const driverChecks = [
  driverSocket,
  kubeletPath,
  driverCheck("CSI003", "driver-identity", judgeIdentity),
  driverCheck("CSI004", "driver-name", judgeName),
  driverCheck("CSI006", "driver-node-info", judgeInfo),
];
