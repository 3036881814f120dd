import { explainHostPath, fixText, UNSEEN_MOUNT } from "../../host-path";
import { isPattern } from "../../registrar/node-wide/path-pattern";
import type { Facts } from "../facts";
import { type Check, ok, problem, unknown, type Verdict, warning } from "../finding";
import { hasNoSocket, RUN_AS_ROOT, remedyFor, START_DRIVER, socketText, tooLong } from "../words";

export const kubeletPath: Check = {
  code: "CSI007",
  name: "kubelet-path",
  verdicts: (facts) => {
    const { csiSocketPath, kubeletRegistrationPath, patterns = [] } = facts.target;
    const isAsked = [csiSocketPath, kubeletRegistrationPath, patterns[0]].some((path) => path !== undefined);
    return isAsked ? judge(facts) : undefined;
  },
};

function judge(facts: Facts): Verdict {
  const { target, driver, kubeletPath: found, hostPath } = facts;
  const { csiSocketPath, kubeletRegistrationPath: path } = target;
  if (path === undefined)
    return unknown(
      "the kubelet registration path",
      "was not named",
      "give what the registrar has: --kubelet-registration-path",
    );
  if (!path.startsWith("/"))
    return problem(path, "is no absolute path", "give the path of the driver's socket on the host");
  if (/\/plugins_registry\//.test(path))
    return warning(
      path,
      "lies in kubelet's registration directory: kubelet takes the driver for a plugin and calls it in vain",
      "move the driver's socket to <kubelet root>/plugins/NAME/",
    );
  if (found?.kind === "too-long")
    return problem(path, tooLong(found.bytes), "use a shorter folder under <kubelet root>/plugins");
  const advice = hostPath && explainHostPath(hostPath);
  if (advice)
    return problem(path, `is what kubelet is told; ${advice.problem}`, fixText(advice), "host-path");
  const byMounts =
    hostPath?.kind === "fits"
      ? ok(path, "is what kubelet is told, and by the mounts it is the driver's socket")
      : hostPath?.kind === "ends-alike"
        ? ok(
            path,
            `is what kubelet is told; it ends as on the driver's disk: ${hostPath.path}; ${UNSEEN_MOUNT}`,
          )
        : unknown(path, "is what kubelet is told; it cannot be seen from here");
  if (driver && hasNoSocket(driver.socket) && (path === csiSocketPath || found?.kind !== "missing"))
    return unknown(path, `is what kubelet is told; at ${csiSocketPath} is no socket to compare it with`);
  // At the same path here and on the host may be two sockets.
  if (path === csiSocketPath && hostPath?.kind !== "fits") return byMounts;
  if (isPattern(path) || found === undefined) return byMounts;
  switch (found.kind) {
    case "accepting": {
      const inode = driver && "inode" in driver.socket ? driver.socket.inode : undefined;
      if (inode === undefined) return ok(path, "accepts connections");
      if (path === csiSocketPath) return ok(path, "is what kubelet is told, too");
      return inode === found.inode
        ? ok(path, "is the driver's socket under the path that kubelet is told")
        : problem(
            path,
            "is another socket than that of --csi-address",
            "make both flags name the same socket",
          );
    }
    case "not-accepting":
      return found.errno === "EACCES"
        ? unknown(path, `is what kubelet is told; ${socketText(found)}`, RUN_AS_ROOT)
        : problem(path, `is what kubelet is told; ${socketText(found)}`, ...remedyFor(found));
    case "missing":
      if (!found.folderInSight) return byMounts;
      return driver?.socket.kind === "accepting"
        ? problem(
            path,
            "is what kubelet is told, and is not there",
            "correct the path: the driver listens elsewhere",
          )
        : problem(
            path,
            "is what kubelet is told, and is not there",
            START_DRIVER,
            `missing ${csiSocketPath}`,
          );
    case "not-a-socket":
      return problem(path, `is ${found.fileType}, not a socket`, "give the socket's path");
    case "out-of-reach":
      return unknown(path, `cannot be looked at: ${found.errno}`, RUN_AS_ROOT);
    default:
      return found satisfies never;
  }
}
