import { dirname } from "node:path";
import { explainHostPath, fixText } from "../../../host-path/host-path";
import { isWithin } from "../../../host-path/mounts";
import { type Check, ok, problem, unknown, type Verdict, warning } from "../../findings/finding";
import type { Facts } from "../facts";
import { type Answering, answeringIn } from "../whose";
import {
  DRIVER_HANGS,
  downCause,
  isDown,
  isStuck,
  namelessCause,
  RUN_AS_ROOT,
  remedyFor,
  START_DRIVER,
  socketText,
} from "../words";

const CORRECT_PATH =
  "correct the registrar's --kubelet-registration-path and the hostPath of the driver's folder";

export const registrationEndpoint: Check<Facts> = {
  code: "CSI016",
  name: "registration-endpoint",
  verdicts: (facts) => answeringIn(facts).map((one) => judge(one, facts)),
};

function judge(
  { info, isTargets, endpoint, path }: Answering,
  { target, directory, host, hostPath }: Facts,
): Verdict | undefined {
  const { name } = info;
  const told = target.kubeletRegistrationPath;
  const bad = isTargets ? problem : warning;
  const ifTargets = (verdict: Verdict) => (isTargets ? verdict : undefined);
  const said = info.endpoint === "" ? `${path}, its registration socket` : info.endpoint;
  if (endpoint === undefined)
    return bad(name, `is said to be at "${info.endpoint}", which is no absolute path`, CORRECT_PATH);
  if (isTargets && target.csiSocketPath !== undefined && told !== undefined && told !== info.endpoint)
    return problem(name, `is said to be at ${said}, not at ${told}`, CORRECT_PATH);
  const { socket, identity } = endpoint;
  const hidden = () =>
    ifTargets(unknown(name, `is said to be at ${said} on the host, which cannot be seen from here`));
  if (socket.kind === "missing" && !socket.folderInSight && !isInSight(socket.path, directory))
    return hidden();
  const isForbidden = "errno" in socket && socket.errno === "EACCES" && host.uid !== 0;
  if (isForbidden)
    return ifTargets(unknown(name, `is said to be at ${said}, which this user may not look at`, RUN_AS_ROOT));
  if (socket.kind !== "accepting") {
    const text = `is said to be at ${said}: ${socketText(socket)}`;
    if (isStuck(socket)) return bad(name, text, ...remedyFor(socket));
    return isDown(socket)
      ? bad(name, text, START_DRIVER, downCause(socket) ?? `missing ${target.csiSocketPath ?? socket.path}`)
      : bad(name, text, CORRECT_PATH);
  }
  if (identity.kind !== "answered") {
    const isLate = identity.kind === "not-asked" || identity.code === "DeadlineExceeded";
    const text = `is said to be at ${said}, which answers no GetPluginInfo${isLate ? " in time" : ""}`;
    return bad(name, text, isLate ? DRIVER_HANGS : CORRECT_PATH, namelessCause(socket));
  }
  if (identity.value.name !== name)
    return bad(
      name,
      `is said to be at ${said}, where the driver ${identity.value.name} answers`,
      CORRECT_PATH,
    );
  // What answers at this path in the container may be nothing on the host.
  const advice = isTargets && told === info.endpoint && hostPath ? explainHostPath(hostPath) : undefined;
  if (advice)
    return problem(name, `is said to be at ${said}; ${advice.problem}`, fixText(advice), "host-path");
  return ifTargets(ok(name, `is where kubelet is told: ${said}`));
}

/**
 * Whether a missing path is missing indeed: it belongs to the same kubelet's root as the directory, and that root is
 * seen as a whole. A directory that is mounted by itself shows nothing of what is beside it.
 */
function isInSight(path: string, directory: Facts["directory"]): boolean {
  const root = dirname(directory.path);
  const isAlone =
    directory.kind !== "folder" || directory.place === undefined || directory.place.isMountPoint;
  return !isAlone && root !== "/" && isWithin(path, root);
}
