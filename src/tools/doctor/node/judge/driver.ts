import type { NodeInfo } from "../../../../grpc/protos";
import { isPattern } from "../../../../host-path/path-pattern";
import { invalidLabels, invalidNodeId } from "../../../../kubelet-rules/api-validation";
import { behaviourOf, NEWEST_SIMULATED } from "../../../../kubelet-rules/versions";
import { boundText } from "../../../../logging/escape";
import { judgeDriverName } from "../../../../registrar/driver/driver-name";
import {
  check,
  flat,
  ok,
  problem,
  unknown,
  unread,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { judgeDriverPlace } from "../../findings/registration-directory";
import { announces, hasNoSocket, isDead, isStuck, type SeenDriver, type SocketFacts } from "../read/facts";
import {
  DRIVER,
  DRIVER_HANGS,
  failureText,
  namelessCause,
  nodeInfoCause,
  ownershipText,
  remedyFor,
  SEE_DRIVER,
  socketText,
} from "./sockets";
import { type Driver, pathFix, type View } from "./view";

const GIVEN = "is the path that kubelet gets";

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
    return problem(path, "is no absolute path", "give the path of the driver's socket on the host");
  const misplaced = judgeDriverPlace(path, path, "lies");
  if (misplaced) return misplaced;
  if (found?.kind === "too-long") return judgeSocket(found, view);
  if (hostPath.kind === "wrong")
    return problem(path, `${GIVEN}; ${hostPath.problem}`, hostPath.fix, "host-path");
  if (driver && hasNoSocket(driver.socket) && (path === csiSocketPath || found?.kind !== "missing"))
    return unknown(path, `${GIVEN}; at ${csiSocketPath} is no socket to compare it with`);
  // The same path may be another socket here than on the host.
  const isUnsure = path === csiSocketPath && hostPath.kind !== "fits";
  const isUnseen = found === undefined || (found.kind === "missing" && !found.isDirectoryInSight);
  if (isUnsure || isUnseen || isPattern(path))
    return hostPath.kind === "fits"
      ? ok(path, `${GIVEN}, and it fits the mounts of this container`)
      : unknown(path, `${GIVEN}; it cannot be seen from here`);
  if (found.kind === "missing" && driver?.socket.kind === "accepting") {
    const fix = pathFix(inode, view, "correct the path: the driver listens elsewhere");
    return problem(path, `${GIVEN}; it is not there`, fix);
  }
  if (found.kind !== "accepting") return judgeSocket(found, view, `${GIVEN}; it `);
  if (inode === undefined || inode === found.inode) return ok(path, `${GIVEN}, and accepts connections`);
  const fix = pathFix(inode, view, "make both flags name the same socket");
  return problem(path, "is another socket than that of --csi-address", fix);
}

/** Judges what is in the place of a driver's socket; `lead` goes before what is wrong with it. */
function judgeSocket(socket: SocketFacts, view: View, lead = ""): Verdict {
  const text = lead + socketText(socket);
  if (socket.kind === "accepting") return ok(socket.path, `${text} (${ownershipText(socket.ownership)})`);
  const isClosed = socket.kind === "not-accepting" || socket.kind === "out-of-reach";
  const say = isClosed && !isDead(socket) && !isStuck(socket) ? unread : problem;
  return say(socket.path, text, ...remedyFor(socket, view, view.target.csiSocketPath));
}

const STORAGE_TROUBLES: ReadonlySet<string> = new Set(["STORAGE_DEGRADED", "STORAGE_UNREACHABLE"]);

/** A check of the driver that was named and of those that were found and are wanted. */
function driverCheck(
  code: string,
  name: string,
  judge: (driver: Driver, subject: string, view: View) => Verdicts,
) {
  return check(code, name, (view: View) =>
    view.drivers.map((driver): Verdicts => {
      if (driver.isNamed) return judge(driver, DRIVER, view);
      const { socket, isNode, unwanted } = driver;
      // CSI020 judges a socket that accepts no connection.
      if (!isNode || unwanted !== undefined || socket.kind !== "accepting") return undefined;
      const verdicts = flat(judge(driver, `${DRIVER} on ${socket.path}`, view));
      if (view.isWhole) return verdicts;
      // Beside a driver that was named, what is wrong with others is worth a warning.
      const bad = verdicts.filter(({ status }) => status === "problem" || status === "warning");
      return bad.map((verdict) => ({ ...verdict, status: "warning" }));
    }),
  );
}

const driverIdentity = driverCheck("CSI003", "driver-identity", ({ identity, socket }, subject) => {
  if (identity === undefined)
    return unknown(subject, "could not be asked for its name, readiness and node information");
  if (identity.kind === "failed") {
    const fixes: Readonly<Record<string, string>> = {
      DeadlineExceeded: DRIVER_HANGS,
      Unimplemented: "correct --csi-address: it names another plugin's socket",
    };
    const fix = fixes[identity.code] ?? SEE_DRIVER;
    return problem(subject, failureText("GetPluginInfo", identity), fix, namelessCause(socket));
  }
  const { name, vendorVersion } = identity.value;
  return ok(name, `is what ${subject} answers to GetPluginInfo, version ${vendorVersion || "not told"}`);
});

const driverName = driverCheck("CSI004", "driver-name", ({ name }) => {
  if (name === undefined) return undefined;
  const verdict = judgeDriverName(name);
  if (verdict.kind === "valid") return ok(name, "is a legal name");
  const fix = "give the driver another name: the API server refuses this one";
  // Kubelet refuses it in the same words as a wrong answer to NodeGetInfo.
  return problem(name, `is an illegal name: ${verdict.problem}`, fix, nodeInfoCause(name));
});

const driverReady = driverCheck("CSI005", "driver-ready", ({ probe }, subject) => {
  if (probe === undefined) return undefined;
  if (probe.kind === "failed") return warning(subject, failureText("Probe", probe), SEE_DRIVER);
  // Without `ready` in its answer it is ready (CSI specification).
  return (probe.value.ready?.value ?? true)
    ? ok(subject, "says that it is ready")
    : warning(subject, "says in Probe that it is not ready", `wait; if it stays so, ${SEE_DRIVER}`);
});

const driverNodeInfo = driverCheck("CSI006", "driver-node-info", ({ nodeInfo, name }, subject, view) => {
  if (nodeInfo === undefined) return undefined;
  // An illegal name is the first cause of a refusal.
  const cause = name && judgeDriverName(name).kind !== "valid" ? undefined : nodeInfoCause(name);
  if (nodeInfo.kind === "answered")
    return [judgeNodeInfo(name, subject, nodeInfo.value, cause), judgeCsiNode(name, nodeInfo.value, view)];
  const fixes: Readonly<Record<string, string>> = {
    DeadlineExceeded: `${SEE_DRIVER}: it may not reach its source of node metadata; --timeout gives it more time here`,
    Unimplemented: "name the socket of the driver's node plugin, not the controller's",
  };
  const text = `${failureText("NodeGetInfo", nodeInfo)}; kubelet refuses the driver`;
  return problem(subject, text, fixes[nodeInfo.code] ?? SEE_DRIVER, cause);
});

/** Kubelet refuses an answer with more conditions (`maxStorageHealthConditions` in `csi_client.go`). */
const MAX_CONDITIONS = 16;

const driverHealth = driverCheck("CSI022", "driver-health", (driver, subject) => {
  const { capabilities, storageHealth, nodeInfo } = driver;
  // CSI006 judges a socket without a node service.
  if (capabilities?.kind === "failed" && nodeInfo?.kind === "answered") {
    const text = failureText("NodeGetCapabilities", capabilities);
    return warning(subject, `${text}; kubelet asks before it mounts a volume`, SEE_DRIVER);
  }
  const health = judgeStorageHealth(storageHealth, subject);
  if (!announces(capabilities, "VOLUME_CONDITION")) return health;
  const removed = warning(
    subject,
    "announces the node capability VOLUME_CONDITION (4), which CSI 1.13 removed: kubelet ignores it from 1.37 on",
    "use a release of the driver that announces GET_VOLUME_HEALTH (7) instead, if there is one",
  );
  return [removed, health];
});

function judgeStorageHealth(health: SeenDriver["storageHealth"], subject: string): Verdicts {
  if (health === undefined) return undefined;
  const call = "NodeGetStorageHealth";
  if (health.kind === "failed")
    return warning(subject, failureText(call, health), `${SEE_DRIVER}: it announces this call`);
  const { backendHealth } = health.value;
  if (backendHealth.length > MAX_CONDITIONS) {
    const text = `answers ${call} with ${backendHealth.length} conditions; kubelet refuses more than ${MAX_CONDITIONS}`;
    return warning(subject, text, SEE_DRIVER);
  }
  // Callers ignore a status that they do not know (CSI specification).
  const bad = backendHealth.filter(({ status }) => STORAGE_TROUBLES.has(status));
  if (bad.length === 0) return ok(subject, "reports no trouble with its storage");
  const fix = `fix the storage, or this node's connection to it; ${SEE_DRIVER}`;
  return bad.map(({ status, reason, message }) => {
    const why = [reason, message].filter(Boolean).join(": ") || "no reason told";
    return warning(subject, `reports ${status} of its storage: ${why}`, fix);
  });
}

function judgeNodeInfo(name: string | undefined, subject: string, info: NodeInfo, cause: string | undefined) {
  const { nodeId, maxVolumesPerNode, accessibleTopology } = info;
  if (nodeId === "")
    return problem(
      subject,
      "answers NodeGetInfo with an empty node ID, which kubelet refuses",
      "tell the driver its node's name, as its own documentation says: often by an environment variable",
      cause,
    );
  const topology = accessibleTopology?.segments ?? {};
  const { maxNodeIdBytes } = behaviourOf(NEWEST_SIMULATED);
  const why = invalidNodeId("this", nodeId, maxNodeIdBytes) ?? invalidLabels("this", topology);
  if (why !== undefined) {
    const text = `answers NodeGetInfo with what the API server refuses: ${why}`;
    return problem(subject, text, "correct the driver's settings", cause);
  }
  const segments = Object.entries(topology).map(([key, value]) => `${key}=${value}`);
  const place = segments.length > 0 ? `topology ${segments.join(", ")}` : "no topology";
  const volumes = maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "any number of volumes";
  return ok(nodeId, `is the node ID of ${name ?? subject}; ${place}; ${volumes}`);
}

/** Kubelet cuts a larger limit. */
const MAX_INT32 = 2 ** 31 - 1;

/** What kubelet has not read since it registered the driver. Only a doctor with access to the API server sees CSINode. */
function judgeCsiNode(name: string | undefined, info: NodeInfo, { nodeReadiness: seen }: View): Verdicts {
  if (seen?.kind !== "asked" || seen.listed.kind === "failed") return undefined;
  const listed = seen.listed.value.find((driver) => driver.name === name);
  if (listed === undefined) return undefined;
  const keysOf = (keys: readonly string[]) => keys.join(", ") || "none";
  const limitOf = (count = 0) => (count > 0 ? String(Math.min(count, MAX_INT32)) : "none");
  const topologyKeys = Object.keys(info.accessibleTopology?.segments ?? {}).sort();
  const again = "delete its pod; the registrar's --reregister-on-driver-restart does that by itself";
  const update = "set nodeAllocatableUpdatePeriodSeconds in its CSIDriver (1.35 or later), or delete its pod";
  const answers = [
    ["node ID", info.nodeId, listed.nodeId, again],
    ["topology keys", keysOf(topologyKeys), keysOf(listed.topologyKeys), again],
    ["volume limit", limitOf(info.maxVolumesPerNode), limitOf(listed.maxVolumes), update],
  ] as const;
  return answers
    .filter(([, told, kept]) => told !== kept)
    .map(([what, told, kept, fix]) => {
      const text = `answers NodeGetInfo with the ${what} ${boundText(told)}, and CSINode has ${boundText(kept)}: kubelet read it at the registration`;
      return warning(listed.name, text, fix);
    });
}

export const driverChecks = [
  driverSocket,
  kubeletPath,
  driverIdentity,
  driverName,
  driverReady,
  driverNodeInfo,
  driverHealth,
];
