import type { NodeInfo } from "../../../grpc/protos";
import { explainHostPath, fixText, UNSEEN_MOUNT } from "../../../host-path/host-path";
import { isPattern } from "../../../host-path/path-pattern";
import { invalidCsiNodeDriver, invalidLabels, invalidNodeId } from "../../../kubelet-rules/api-validation";
import { behaviourOf, NEWEST_SIMULATED } from "../../../kubelet-rules/versions";
import { boundText } from "../../../logging/escape";
import { judgeDriverName } from "../../../registrar/driver/driver-name";
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
import type { Facts } from "../read/gather";
import {
  allDrivers,
  DRIVER,
  DRIVER_HANGS,
  failureText,
  isNodeDriver,
  namelessCause,
  nameTold,
  nodeInfoCause,
  ownershipText,
  pathFix,
  remedyFor,
  remedyForErrno,
  SEE_DRIVER,
  START_DRIVER,
  socketText,
  unwantedReason,
} from "./matching";

const GIVEN = "is the path that kubelet gets";

const driverSocket = check("CSI002", "driver-socket", (facts: Facts) => {
  const { driver, target } = facts;
  if (driver === undefined) {
    const { pattern } = target;
    return pattern === undefined
      ? undefined
      : ok(pattern, "is a pattern: each socket that fits is looked at");
  }
  const { socket } = driver;
  const { path } = socket;
  if (socket.kind === "accepting")
    return ok(path, `accepts connections (${ownershipText(socket.ownership)})`);
  if (socket.kind === "missing") {
    const [text, fix] = socket.folderInSight
      ? ["is not there, its folder is", START_DRIVER]
      : ["is not there, nor is its folder", "mount the folder here, or correct --csi-address"];
    return problem(path, text, fix, `missing ${path}`);
  }
  const fixes = {
    "not-a-socket": "name the driver's socket itself with --csi-address",
    "too-long": "mount the folder under a shorter path, or link to it",
  };
  return judgeClosed(socket, fixes, facts);
});

const kubeletPath = check("CSI007", "kubelet-path", (facts: Facts) => {
  const { csiSocketPath, kubeletRegistrationPath, pattern } = facts.target;
  if (kubeletRegistrationPath !== undefined) return judgeKubeletPath(kubeletRegistrationPath, facts);
  if (csiSocketPath === undefined && pattern === undefined) return undefined;
  return unknown("the kubelet registration path", "was not named by --kubelet-registration-path");
});

function judgeKubeletPath(path: string, facts: Facts): Verdict {
  const { target, driver, kubeletPath: found, hostPath } = facts;
  const { csiSocketPath } = target;
  const inode = driver?.socket.inode;
  if (!path.startsWith("/"))
    return problem(path, "is no absolute path", "give the path of the driver's socket on the host");
  const misplaced = judgeDriverPlace(path, path, "lies");
  if (misplaced) return misplaced;
  const fixes = {
    "not-a-socket": "give the socket's path",
    "too-long": "use a shorter directory under <kubelet root>/plugins",
  };
  if (found?.kind === "too-long") return judgeClosed(found, fixes, facts);
  const advice = hostPath && explainHostPath(hostPath);
  if (advice) return problem(path, `${GIVEN}; ${advice.problem}`, fixText(advice), "host-path");
  if (driver && hasNoSocket(driver.socket) && (path === csiSocketPath || found?.kind !== "missing"))
    return unknown(path, `${GIVEN}; at ${csiSocketPath} is no socket to compare it with`);
  // The same path may be another socket here than on the host.
  const isUnsure = path === csiSocketPath && hostPath?.kind !== "fits";
  const isUnseen = found === undefined || (found.kind === "missing" && !found.folderInSight);
  if (isUnsure || isUnseen || isPattern(path)) return judgeByMounts(path, hostPath);
  if (found.kind === "missing")
    return driver?.socket.kind === "accepting"
      ? problem(
          path,
          `${GIVEN}; it is not there`,
          pathFix(inode, facts, "correct the path: the driver listens elsewhere"),
        )
      : problem(path, `${GIVEN}; it is not there`, START_DRIVER, `missing ${csiSocketPath}`);
  if (found.kind !== "accepting") return judgeClosed(found, fixes, facts, `${GIVEN}; it `);
  if (inode === undefined) return ok(path, "accepts connections");
  if (path === csiSocketPath) return ok(path, `${GIVEN}, too`);
  if (inode === found.inode) return ok(path, "is the driver's socket under the path that kubelet gets");
  const fix = pathFix(inode, facts, "make both flags name the same socket");
  return problem(path, "is another socket than that of --csi-address", fix);
}

function judgeByMounts(path: string, hostPath: Facts["hostPath"]): Verdict {
  switch (hostPath?.kind) {
    case "fits":
      return ok(path, `${GIVEN}, and by the mounts it is the driver's socket`);
    case "ends-alike":
      return ok(path, `${GIVEN}; it ends as on the driver's disk: ${hostPath.path}; ${UNSEEN_MOUNT}`);
    default:
      return unknown(path, `${GIVEN}; it cannot be seen from here`);
  }
}

/** Judges a file in the place of a driver's socket; `lead` goes before what is wrong with it. */
function judgeClosed(
  socket: Exclude<SocketFacts, { readonly kind: "accepting" | "missing" }>,
  fixes: Readonly<Record<"not-a-socket" | "too-long", string>>,
  facts: Facts,
  lead = "",
): Verdict {
  const { path } = socket;
  const text = lead + socketText(socket);
  if (socket.kind === "not-a-socket" || socket.kind === "too-long")
    return problem(path, text, fixes[socket.kind]);
  return isDead(socket) || isStuck(socket)
    ? problem(path, text, ...remedyFor(socket))
    : unread(path, text, remedyForErrno(socket.errno, facts, ", and check the folders above it"));
}

const STORAGE_TROUBLES: ReadonlySet<string> = new Set(["STORAGE_DEGRADED", "STORAGE_UNREACHABLE"]);

/** A check of the driver that was named and of those that were found and are wanted. */
function driverCheck(
  code: string,
  name: string,
  judge: (driver: SeenDriver, subject: string, facts: Facts) => Verdicts,
) {
  return check(code, name, (facts: Facts) =>
    allDrivers(facts).map((driver): Verdicts => {
      if (driver === facts.driver) return judge(driver, DRIVER, facts);
      const isWanted = isNodeDriver(driver) && unwantedReason(driver, facts) === undefined;
      // CSI020 judges a socket that accepts no connection.
      if (!isWanted || driver.socket.kind !== "accepting") return undefined;
      const verdicts = flat(judge(driver, `${DRIVER} on ${driver.socket.path}`, facts));
      if (facts.target.csiSocketPath === undefined) return verdicts;
      // Beside a driver that was named, what is wrong with others is worth a warning.
      const bad = verdicts.filter(({ status }) => status === "problem" || status === "warning");
      return bad.map((verdict) => ({ ...verdict, status: "warning" }));
    }),
  );
}

const driverIdentity = driverCheck("CSI003", "driver-identity", ({ identity, socket }, subject) => {
  if (identity.kind === "not-asked")
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

const driverName = driverCheck("CSI004", "driver-name", (driver) => {
  const name = nameTold(driver);
  if (name === undefined) return undefined;
  const verdict = judgeDriverName(name);
  if (verdict.kind === "valid") return ok(name, "is a legal name");
  const [text, reason] =
    verdict.kind === "unsafe"
      ? ["cannot be registered", "no registrar can use this one"]
      : ["is an illegal name", "the API server refuses this one"];
  const fix = `give the driver another name: ${reason}`;
  // Kubelet refuses it in the same words as a wrong answer to NodeGetInfo.
  return problem(name, `${text}: ${verdict.problem}`, fix, nodeInfoCause(name));
});

const driverReady = driverCheck("CSI005", "driver-ready", ({ probe }, subject) => {
  if (probe.kind === "not-asked") return undefined;
  if (probe.kind === "failed") return warning(subject, failureText("Probe", probe), SEE_DRIVER);
  // Without `ready` in its answer it is ready (CSI specification).
  return (probe.value.ready?.value ?? true)
    ? ok(subject, "says that it is ready")
    : warning(subject, "says in Probe that it is not ready", `wait; if it stays so, ${SEE_DRIVER}`);
});

const driverNodeInfo = driverCheck("CSI006", "driver-node-info", (driver, subject, facts) => {
  const { nodeInfo } = driver;
  const name = nameTold(driver);
  if (nodeInfo.kind === "not-asked") return undefined;
  // An illegal name is the first cause of a refusal.
  const cause = name && judgeDriverName(name).kind !== "valid" ? undefined : nodeInfoCause(name);
  if (nodeInfo.kind === "answered")
    return [
      judgeNodeInfo(name ?? "", subject, nodeInfo.value, cause),
      judgeCsiNode(name ?? "", nodeInfo.value, facts),
    ];
  const fixes: Readonly<Record<string, string>> = {
    DeadlineExceeded: `${SEE_DRIVER}: it may not reach its source of node metadata; --timeout gives it more time here`,
    Unimplemented: "name the socket of the driver's node plugin, not the controller's",
  };
  const waits = nodeInfo.code === "DeadlineExceeded" ? "waits 2 minutes for it, then " : "";
  const text = `${failureText("NodeGetInfo", nodeInfo)}; kubelet ${waits}refuses the driver`;
  return problem(subject, text, fixes[nodeInfo.code] ?? SEE_DRIVER, cause);
});

/** Kubelet refuses an answer with more conditions (`maxStorageHealthConditions` in `csi_client.go`). */
const MAX_CONDITIONS = 16;

const driverHealth = driverCheck("CSI022", "driver-health", (driver, subject) => {
  const { capabilities, storageHealth, nodeInfo } = driver;
  // CSI006 judges a socket without a node service.
  if (capabilities.kind === "failed" && nodeInfo.kind === "answered")
    return warning(
      subject,
      `${failureText("NodeGetCapabilities", capabilities)}; kubelet asks before it mounts a volume`,
      SEE_DRIVER,
    );
  const removed = warning(
    subject,
    "announces the node capability VOLUME_CONDITION (4), which CSI 1.13 removed: kubelet ignores it from 1.37 on",
    "use a release of the driver that announces GET_VOLUME_HEALTH (7) instead, if there is one",
  );
  const isRemoved = announces(capabilities, "VOLUME_CONDITION");
  return [isRemoved ? removed : undefined, judgeStorageHealth(storageHealth, subject)];
});

function judgeStorageHealth(health: SeenDriver["storageHealth"], subject: string): Verdicts {
  if (health.kind === "not-asked") return undefined;
  const call = "NodeGetStorageHealth";
  if (health.kind === "failed")
    return warning(subject, failureText(call, health), `${SEE_DRIVER}: it announces this call`);
  const { backendHealth } = health.value;
  const many = `answers ${call} with ${backendHealth.length} conditions; kubelet refuses more than ${MAX_CONDITIONS}`;
  if (backendHealth.length > MAX_CONDITIONS) return warning(subject, many, SEE_DRIVER);
  // Callers ignore a status that they do not know (CSI specification).
  const bad = backendHealth.filter(({ status }) => STORAGE_TROUBLES.has(status));
  return bad.length === 0
    ? ok(subject, "reports no trouble with its storage")
    : bad.map(({ status, reason, message }) =>
        warning(
          subject,
          `reports ${status} of its storage: ${[reason, message].filter(Boolean).join(": ") || "no reason told"}`,
          `fix the storage, or this node's connection to it; ${SEE_DRIVER}`,
        ),
      );
}

/** What is wrong with the name, CSI003 and CSI004 say. */
function judgeNodeInfo(name: string, subject: string, info: NodeInfo, cause: string | undefined) {
  const isNamed = judgeDriverName(name).kind === "valid";
  if (info.nodeId === "")
    return problem(
      subject,
      "answers NodeGetInfo with an empty node ID, which kubelet refuses",
      "tell the driver its node's name, as its own documentation says: often by an environment variable",
      cause,
    );
  const { nodeId, maxVolumesPerNode, accessibleTopology } = info;
  const topology = accessibleTopology?.segments ?? {};
  const { maxNodeIdBytes } = behaviourOf(NEWEST_SIMULATED);
  const why =
    (isNamed
      ? invalidCsiNodeDriver("this", { name, nodeId }, maxNodeIdBytes)
      : invalidNodeId("this", nodeId, maxNodeIdBytes)) ?? invalidLabels("this", topology);
  if (why !== undefined) {
    const text = `answers NodeGetInfo with what the API server refuses: ${why}`;
    return problem(subject, text, "correct the driver's settings", cause);
  }
  const segments = Object.entries(topology).map(([key, value]) => `${key}=${value}`);
  const place = segments.length > 0 ? `topology ${segments.join(", ")}` : "no topology";
  const volumes = maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "any number of volumes";
  return ok(nodeId, `is the node ID of ${name || subject}; ${place}; ${volumes}`);
}

/** Kubelet cuts a larger limit. */
const MAX_INT32 = 2 ** 31 - 1;

/** What kubelet has not read since it registered the driver. Only a doctor with access to the API server sees CSINode. */
function judgeCsiNode(name: string, info: NodeInfo, { nodeReadiness: seen }: Facts): Verdicts {
  if (seen?.kind !== "asked" || seen.listed.kind === "failed") return undefined;
  const listed = seen.listed.value.find((driver) => driver.name === name);
  if (listed === undefined) return undefined;
  const topologyKeys = Object.keys(info.accessibleTopology?.segments ?? {}).sort();
  const isMoved = listed.nodeId !== info.nodeId;
  if (isMoved || listed.topologyKeys.join() !== topologyKeys.join()) {
    const [told, kept] = isMoved
      ? [`node ID ${boundText(info.nodeId)}`, boundText(listed.nodeId)]
      : [`topology keys ${keysText(topologyKeys)}`, keysText(listed.topologyKeys)];
    return warning(
      name,
      `answers NodeGetInfo with the ${told}, and CSINode has ${kept}: kubelet reads that only when it registers the driver`,
      "delete its pod; give the registrar --reregister-on-driver-restart if the driver changes it at a restart",
    );
  }
  const limitOf = (count = 0) => (count > 0 ? Math.min(count, MAX_INT32) : "none");
  const [told, kept] = [limitOf(info.maxVolumesPerNode), limitOf(listed.maxVolumes)];
  if (told === kept) return undefined;
  return warning(
    name,
    `answers NodeGetInfo with the volume limit ${told}, and CSINode has ${kept}, by which the scheduler goes`,
    "set nodeAllocatableUpdatePeriodSeconds in its CSIDriver (Kubernetes 1.35 or later) and wait that long, or delete its pod",
  );
}

const keysText = (keys: readonly string[]) => boundText(keys.join(", ") || "none");

export const driverChecks = [
  driverSocket,
  kubeletPath,
  driverIdentity,
  driverName,
  driverReady,
  driverNodeInfo,
  driverHealth,
];
