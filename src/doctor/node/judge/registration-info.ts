import { dirname } from "node:path";
import { messageOf } from "../../../base/errors";
import { explainHostPath, fixText } from "../../../host-path/host-path";
import { validateVersions } from "../../../kubelet-rules/driver-versions";
import { isWithin } from "../../../unix/mounts";
import { check, ok, problem, unknown, type Verdict, warning } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { LEAVE_ONE } from "../../rules/duplicates";
import type { Facts } from "../read/facts";
import { type Answering, allDrivers, answeringIn, nameTold, pathFix } from "./matching";
import { DRIVER_HANGS, duplicatesCause, namelessCause, RUN_AS_ROOT, remedyFor, socketText } from "./words";

const CORRECT_PATH =
  "correct the registrar's --kubelet-registration-path and the hostPath of the driver's folder";

export const registrationEndpoint = check("CSI016", "registration-endpoint", (facts: Facts) =>
  answeringIn(facts).map((one) => judgeEndpoint(one, facts)),
);

function judgeEndpoint({ info, isTargets, endpoint, path }: Answering, facts: Facts): Verdict | undefined {
  const { target, directory, host, hostPath } = facts;
  const { name } = info;
  const own = allDrivers(facts).filter((driver) => nameTold(driver) === name);
  const inode = own.length === 1 ? own[0]?.socket.inode : undefined;
  const fixPath = pathFix(inode, facts, CORRECT_PATH);
  const told = target.kubeletRegistrationPath;
  const bad = isTargets ? problem : warning;
  const ifTargets = (verdict: Verdict) => (isTargets ? verdict : undefined);
  if (endpoint === undefined)
    return bad(name, `is said to be at "${info.endpoint}", which is no absolute path`, fixPath);
  const place = info.endpoint === "" ? `${path}, its registration socket` : info.endpoint;
  const saidAt = `is said to be at ${place}`;
  if (isTargets && target.csiSocketPath !== undefined && told !== undefined && told !== info.endpoint)
    return problem(name, `${saidAt}, not at ${told}`, fixPath);
  const { socket, identity } = endpoint;
  const mayBeThere =
    !isInSight(socket.path, directory) && (inode === undefined || !facts.socketsOnHost.has(inode));
  if (socket.kind === "missing" && !socket.folderInSight && mayBeThere)
    return ifTargets(unknown(name, `${saidAt} on the host, which cannot be seen from here`));
  if (socket.errno === "EACCES" && host.uid !== 0)
    return ifTargets(unknown(name, `${saidAt}, which this user may not look at`, RUN_AS_ROOT));
  if (socket.kind !== "accepting") {
    const [fix, cause] = remedyFor(socket, target.csiSocketPath);
    return bad(name, `${saidAt}, which ${socketText(socket)}`, cause === undefined ? fixPath : fix, cause);
  }
  if (identity.kind !== "answered") {
    const isLate = identity.kind === "not-asked" || identity.code === "DeadlineExceeded";
    const text = `${saidAt}, which answers no GetPluginInfo${isLate ? " in time" : ""}`;
    return bad(name, text, isLate ? DRIVER_HANGS : fixPath, namelessCause(socket));
  }
  if (identity.value.name !== name)
    return bad(name, `${saidAt}, where the driver ${identity.value.name} answers`, fixPath);
  // What answers at this path in the container may be nothing on the host.
  const advice = isTargets && told === info.endpoint && hostPath ? explainHostPath(hostPath) : undefined;
  if (advice) return problem(name, `${saidAt}; ${advice.problem}`, fixText(advice), "host-path");
  return ifTargets(ok(name, `is at the path that kubelet gets: ${place}`));
}

/** Whether a path is seen as the host has it: a directory that is a mount of its own does not show what is beside it. */
function isInSight(path: string, directory: Facts["directory"]): boolean {
  const root = dirname(directory.path);
  const isAlone =
    directory.kind !== "folder" || directory.place === undefined || directory.place.isMountPoint;
  return !isAlone && root !== "/" && isWithin(path, root);
}

export const registrationVersions = check("CSI017", "registration-versions", (facts: Facts) =>
  answeringIn(facts).map(({ info: { name, supportedVersions }, isTargets }) => {
    try {
      validateVersions("ValidatePlugin", name, supportedVersions, undefined);
    } catch (error) {
      const text = `offers versions that kubelet refuses: ${messageOf(error)}`;
      return (isTargets ? problem : warning)(name, text, "offer 1.0.0, as registrars do");
    }
    return isTargets
      ? ok(name, `offers versions that kubelet accepts: ${supportedVersions.join(", ")}`)
      : undefined;
  }),
);

export const registrationDuplicates = check("CSI018", "registration-duplicates", (facts: Facts) =>
  [...grouped(answeringIn(facts), ({ info }) => info.name)].map(([name, ones]) => {
    const isTargets = ones.some((one) => one.isTargets);
    const standbys = ones.reduce((sum, { report }) => sum + (report?.standbys ?? 0), 0);
    if (ones.length === 1 && standbys > 0)
      return warning(
        name,
        `has ${standbys === 1 ? "a second registrar that stands by" : `${standbys} more registrars that stand by`} for the one on ${ones[0].path}`,
        LEAVE_ONE,
        duplicatesCause(ones[0].info.endpoint),
      );
    if (ones.length === 1) return isTargets ? ok(name, "has one living registration socket") : undefined;
    const paths = ones.map(({ path }) => path);
    return (isTargets ? problem : warning)(
      name,
      `has ${paths.length} living registration sockets: ${paths.join(", ")}; kubelet refuses all but one, and when any goes the driver is deregistered`,
      LEAVE_ONE,
      duplicatesCause(ones[0].info.endpoint),
    );
  }),
);
