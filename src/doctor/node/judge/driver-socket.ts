import { explainHostPath, fixText, UNSEEN_MOUNT } from "../../../host-path/host-path";
import { isPattern } from "../../../host-path/path-pattern";
import { check, ok, problem, unknown, unread, type Verdict } from "../../findings/finding";
import { judgeDriverPlace } from "../../rules/registration-directory";
import { hasNoSocket, type SocketFacts } from "../read/facts";
import type { Facts } from "../read/gather";
import { pathFix } from "./matching";
import {
  DRIVER,
  ownershipText,
  RUN_AS_ROOT,
  remedyFor,
  remedyForErrno,
  START_DRIVER,
  socketText,
} from "./words";

const GIVEN = "is the path that kubelet gets";

export const driverSocket = check("CSI002", "driver-socket", ({ driver, target }: Facts) => {
  if (driver === undefined) {
    const { pattern } = target;
    return pattern !== undefined
      ? ok(pattern, "is a pattern: each socket that fits is looked at")
      : unknown(DRIVER, "was not given: every driver found on this node is looked at");
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
  return judgeClosed(socket, {
    "not-a-socket": "name the driver's socket itself with --csi-address",
    "too-long": "mount the folder under a shorter path, or link to it",
  });
});

export const kubeletPath = check("CSI007", "kubelet-path", (facts: Facts) => {
  const { csiSocketPath, kubeletRegistrationPath, pattern } = facts.target;
  if (kubeletRegistrationPath !== undefined) return judgeKubeletPath(kubeletRegistrationPath, facts);
  if (csiSocketPath === undefined && pattern === undefined) return undefined;
  const fix = "give the registrar's own --kubelet-registration-path";
  return unknown("the kubelet registration path", "was not named", fix);
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
    "too-long": "use a shorter folder under <kubelet root>/plugins",
  };
  if (found?.kind === "too-long") return judgeClosed(found, fixes);
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
  if (found.kind !== "accepting") return judgeClosed(found, fixes, `${GIVEN}; it `);
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
  lead = "",
): Verdict {
  const { path } = socket;
  const text = lead + socketText(socket);
  if (socket.kind === "out-of-reach")
    return unread(path, text, remedyForErrno(socket.errno, ", and check the folders above it"));
  if (socket.kind !== "not-accepting") return problem(path, text, fixes[socket.kind]);
  return socket.errno === "EACCES"
    ? unread(path, text, `${RUN_AS_ROOT}; if SELinux denies it to root, set seLinuxOptions.type: spc_t`)
    : problem(path, text, ...remedyFor(socket));
}
