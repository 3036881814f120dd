import { explainHostPath, fixText, UNSEEN_MOUNT } from "../../../host-path/host-path";
import { isPattern } from "../../../host-path/path-pattern";
import { type Check, ok, problem, unknown, type Verdict } from "../../findings/finding";
import { judgeDriverPlace } from "../../rules/registration-directory";
import { tooLong } from "../../rules/words";
import type { Facts } from "../facts";
import { hasNoSocket, judgeClosed, START_DRIVER } from "../words";

export const kubeletPath: Check<Facts> = {
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
  const misplaced = judgeDriverPlace(path, path, "lies");
  if (misplaced) return misplaced;
  const tooLongFix = "use a shorter folder under <kubelet root>/plugins";
  if (found?.kind === "too-long") return problem(path, tooLong(found.bytes), tooLongFix);
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
  if (found.kind !== "accepting")
    return judgeClosed(found, {
      lead: "is what kubelet is told; it ",
      missing: (folderInSight) => {
        if (!folderInSight) return byMounts;
        const text = "is what kubelet is told, and is not there";
        return driver?.socket.kind === "accepting"
          ? problem(path, text, "correct the path: the driver listens elsewhere")
          : problem(path, text, START_DRIVER, `missing ${csiSocketPath}`);
      },
      noSocketFix: "give the socket's path",
      tooLongFix,
    });
  const inode = driver && "inode" in driver.socket ? driver.socket.inode : undefined;
  if (inode === undefined) return ok(path, "accepts connections");
  if (path === csiSocketPath) return ok(path, "is what kubelet is told, too");
  return inode === found.inode
    ? ok(path, "is the driver's socket under the path that kubelet is told")
    : problem(path, "is another socket than that of --csi-address", "make both flags name the same socket");
}
