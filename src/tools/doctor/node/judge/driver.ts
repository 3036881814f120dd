import { dirname } from "node:path";
import type { NodeInfo } from "../../../../grpc/protos";
import { isPattern } from "../../../../host-path/path-pattern";
import { invalidCsiNodeDriver, invalidLabels } from "../../../../kubelet-rules/api-refusals";
import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import type { Cause } from "../../findings/causes";
import { check, ok, problem, unknown, type Verdict, type Verdicts, warning } from "../../findings/finding";
import { judgeDriverPlace } from "../../findings/registration-directory";
import { changed, otherwise, withheld } from "../../findings/seen";
import { callText } from "../../findings/why";
import { firstOf, namedText } from "../../findings/words";
import { hasNoSocket, type SocketFacts } from "../read/socket";
import { ADVICE, CAUSES, DRIVER, ownershipText, remedyFor, socketText } from "./trouble";
import { type Driver, isAny, pathFix, type View } from "./view";

const GIVEN = "is the path that kubelet dials";
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

function judgeKubeletPath(path: string, view: View): Verdict {
  const { driver, kubeletPath: found, hostPath } = view;
  const { csiSocketPath } = view.target;
  const inode = driver?.socket.inode;
  if (!path.startsWith("/"))
    return problem(path, "is not an absolute path", "give the path of the driver's socket on the host");
  const misplaced = judgeDriverPlace(path, path, "lies");
  if (misplaced) return misplaced;
  if (found?.kind === "unread") return judgeSocket(found, view, `${GIVEN}; it `);
  if (found?.kind === "too-long") return judgeSocket(found, view);
  if (hostPath.kind !== "unread" && hostPath.kind === "wrong")
    return problem(path, `${GIVEN}; ${hostPath.problem}`, hostPath.fix, { kind: "host-path" });
  const isMissing = found?.kind === "missing";
  const isUnseen = found === undefined || found.kind === "unseen";
  // Beyond here the mounts do not contradict the path; they may not tell.
  const hidden =
    hostPath.kind === "unread"
      ? unknown(path, `${GIVEN}; it cannot be seen from here`)
      : ok(path, `${GIVEN}, and it fits the mounts of this container`);
  if (driver && hasNoSocket(driver.socket) && (path === csiSocketPath || !(isMissing || isUnseen)))
    return unknown(path, `${GIVEN}; there is no socket at ${csiSocketPath} to compare it with`);
  // The same path may be another socket here than on the host.
  const isUnsure = path === csiSocketPath && hidden.status === "unknown";
  if (isUnsure || isUnseen || isPattern(path)) return hidden;
  if (isMissing && driver && driver.socket.kind !== "unread" && driver.socket.kind === "accepting") {
    const fix = pathFix(inode, view, "correct the path: the driver listens elsewhere");
    return problem(path, "is not there, and kubelet dials this path", fix);
  }
  if (found.kind === "accepting" && inode !== undefined && inode !== found.inode) {
    const fix = pathFix(inode, view, "make both flags name the same socket");
    return problem(path, "is a different socket from that of --csi-address", fix);
  }
  if (found.kind === "accepting") return ok(path, `${GIVEN}, and accepts connections`);
  return judgeSocket(found, view, `${GIVEN}; it `);
}

/** Judges what is in the place of a driver's socket; `lead` goes before what is wrong with it. */
function judgeSocket(socket: SocketFacts, view: View, lead = ""): Verdict {
  const { path } = socket;
  const [fix, cause] = remedyFor(socket, view, view.target.csiSocketPath);
  if (socket.kind === "unread") return unknown(path, lead + socketText(socket), fix);
  const { kind } = socket;
  // The socket's own finding has the errno.
  const isLed = lead !== "" && kind === "dead";
  const text = isLed ? `${GIVEN}, but no process listens there` : lead + socketText(socket);
  if (kind === "accepting") return ok(path, `${text} (${ownershipText(socket.ownership)})`);
  const beside = view.drivers
    .filter((other) => cause !== undefined && dirname(other.socket.path) === dirname(path))
    .flatMap((other) => other.names.map((name) => ({ name, at: other.socket.path })));
  const correction = beside.first(isAny, {
    yes: ({ name, at }) => `the driver ${name} listens on ${at}: correct the path`,
    ...otherwise(() => fix),
  });
  return problem(path, text, correction, cause);
}

/** A check of the driver that was named and of those that were found and are wanted. */
function driverCheck(
  code: string,
  name: string,
  judge: (driver: Driver, subject: string, view: View) => Verdicts,
) {
  return check(code, name, (view: View) => [
    view.drivers.map((driver): Verdicts => {
      if (driver.isNamed) return judge(driver, DRIVER, view);
      const { socket, isNode, isWanted } = driver;
      // CSI020 judges a socket that accepts no connection.
      if (socket.kind === "unread" || socket.kind !== "accepting") return undefined;
      const yes = (): Verdicts => {
        const verdicts = judge(driver, `${DRIVER} on ${socket.path}`, view);
        // Beside a driver that was named, what is wrong with others is worth a warning.
        const asWarning = (one: Verdict) =>
          one.status === "problem" || one.status === "warning"
            ? { ...one, status: "warning" as const }
            : undefined;
        return view.isWhole ? verdicts : changed(verdicts, asWarning);
      };
      return isNode.and(isWanted)({ yes, no: () => undefined, unknown: () => withheld });
    }),
  ]);
}

const SEE_BESIDE = "see what listens there: if it is not for CSI, all is well";
const unsure = (verdict: Verdict) => ({ ...verdict, status: "unknown" as const });

const driverIdentity = driverCheck("CSI003", "driver-identity", ({ identity, socket, isBeside }, subject) => {
  if (identity === undefined)
    return unknown(subject, "could not be asked for its name, readiness and node information");
  if (identity.kind === "unread") return undefined;
  if (identity.kind === "failed") {
    const fixes: Readonly<Record<string, string>> = {
      DeadlineExceeded: `${ADVICE.driverHangs}; if it is only slow, raise --timeout`,
      Unimplemented: "correct --csi-address: it names another plugin's socket",
    };
    const fix = fixes[identity.code] ?? ADVICE.seeDriver;
    const text = callText(identity);
    const bad = () => problem(subject, text, fix, CAUSES.nameless(socket));
    return isBeside<Verdict>({
      yes: () => warning(subject, `${text}; a driver with a registrar answers beside it`, SEE_BESIDE),
      no: bad,
      unknown: () => unsure(bad()),
    });
  }
  const { name, vendorVersion } = identity.value;
  return ok(
    namedText(name),
    `is what ${subject} answers to GetPluginInfo, version ${vendorVersion || "unknown"}`,
  );
});

const driverName = driverCheck("CSI004", "driver-name", ({ identity }) => {
  if (identity?.kind === "unread" || identity?.kind !== "answered") return undefined;
  const { name } = identity.value;
  const verdict = judgeDriverName(name);
  if (verdict.kind === "valid") return ok(name, "is a legal name");
  const fix = "give the driver another name: the API server refuses this one";
  // Kubelet refuses it in the same words as a wrong answer to NodeGetInfo.
  return problem(namedText(name), `is an illegal name: ${verdict.problem}`, fix, CAUSES.nodeInfo(name));
});

const driverNodeInfo = driverCheck("CSI006", "driver-node-info", ({ nodeInfo, identity }, subject) => {
  if (nodeInfo === undefined || nodeInfo.kind === "unread") return undefined;
  if (identity?.kind === "unread" || identity?.kind !== "answered") return undefined;
  const { name } = identity.value;
  // An illegal name is the first cause of a refusal.
  const cause = judgeDriverName(name).kind !== "valid" ? undefined : CAUSES.nodeInfo(name);
  if (nodeInfo.kind === "answered") return judgeNodeInfo(name, subject, nodeInfo.value, cause);
  const fixes: Readonly<Record<string, string>> = {
    DeadlineExceeded: ADVICE.noMetadata,
    Unimplemented: "name the socket of the driver's node plugin, not the controller's",
  };
  const text = `${callText(nodeInfo)}; kubelet refuses the driver`;
  const fix = nodeInfo.isTooLarge ? FEWER_SEGMENTS : (fixes[nodeInfo.code] ?? ADVICE.seeDriver);
  return problem(subject, text, fix, cause);
});

function judgeNodeInfo(name: string, subject: string, info: NodeInfo, cause: Cause | undefined) {
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

export const driverChecks = [driverSocket, kubeletPath, driverIdentity, driverName, driverNodeInfo];
