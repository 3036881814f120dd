import { dirname } from "node:path";
import { messageOf } from "../../../base/errors";
import type { PluginInfo } from "../../../grpc/protos";
import { explainHostPath, fixText } from "../../../host-path/host-path";
import { validateVersions } from "../../../kubelet-rules/driver-versions";
import { behaviourOf, NEWEST_SIMULATED } from "../../../kubelet-rules/versions";
import { explainSilence, hintForRefusal } from "../../../registrar/registration/hints";
import { check, grouped, ok, problem, unknown, unread, type Verdict, warning } from "../../findings/finding";
import { LEAVE_ONE } from "../../findings/words";
import { answerIn } from "../read/facts";
import type { Facts, RegistrationFacts } from "../read/gather";
import {
  type Answering,
  allDrivers,
  answeringIn,
  DRIVER,
  DRIVER_HANGS,
  downCause,
  driverLeftIn,
  duplicatesCause,
  isDeserted,
  isInSight,
  isTargets,
  namelessCause,
  nameTold,
  nodeInfoCause,
  pathFix,
  RUN_AS_ROOT,
  remedyFor,
  remedyForErrno,
  SEE_REGISTRAR,
  socketText,
  targetName,
  troubleOf,
} from "./matching";

const NO_CONNECTION = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };

const registrationCheck = check("CSI015", "registration", (facts: Facts) => {
  const { directory, registrations, target } = facts;
  if (directory.kind !== "folder") return undefined;
  const { path } = directory;
  const theirs = registrations.filter((one) => isTargets(one, facts));
  if (theirs.length > 0) return theirs.map((one) => judgeRegistration(one, facts));
  if (directory.unlistable !== undefined)
    return unknown(
      "the registration",
      `cannot be looked for: ${path} may not be read`,
      remedyForErrno(directory.unlistable, facts),
    );
  if (target.csiSocketPath === undefined)
    return unknown(
      path,
      "has no registration socket on which a CSI driver's registrar answers",
      "if a driver should be here: kubectl get pods -A --field-selector spec.nodeName=NODE",
    );
  const name = targetName(facts);
  if (name === undefined)
    return unknown(DRIVER, "has no known name: its registration socket cannot be found by it");
  return problem(
    name,
    `has no registration socket in ${path}`,
    "see whether its registrar runs, and whether its --plugin-registration-path leads here",
  );
});

function judgeRegistration(one: RegistrationFacts, facts: Facts): Verdict {
  const { info, report } = one;
  const { path } = one.socket;
  if (info.kind !== "answered") {
    const { text, fix, unseen } = troubleOf(one, true, facts);
    return (unseen === "forbidden" ? unread : problem)(path, text, fix);
  }
  const { name } = info.value;
  if (report === undefined) {
    const text = `has a registrar on ${path} that does not report whether kubelet registered it`;
    return unknown(name, text, "kubectl get csinode NODE -o yaml lists the drivers that kubelet registered");
  }
  const { state, reason, refusal } = report;
  // With policy retry the registrar publishes again after a refusal: until kubelet comes, its last words count.
  if (state === "refused" || (state === "listening" && refusal !== undefined))
    return judgeRefusal(info.value, refusal, facts);
  if (state === "registered") return ok(name, `is registered with kubelet, says its registrar on ${path}`);
  const why = reason === undefined ? "" : `: ${reason}`;
  if (state !== "listening")
    return warning(
      name,
      `is not registered yet: its registrar is ${state}${why}`,
      `look again in a while, and ${SEE_REGISTRAR}`,
    );
  const { place, kubeletSocket } = facts.directory.kind === "folder" ? facts.directory : {};
  const isDown = kubeletSocket?.kind === "not-accepting" ? "kubelet-down" : undefined;
  return problem(
    name,
    `is published on ${path}, but ${reason ?? "kubelet does not call"}`,
    explainSilence(dirname(path), NO_CONNECTION),
    place?.fileSystem === "overlay" ? "not-kubelets" : isDown,
  );
}

function judgeRefusal({ name, endpoint }: PluginInfo, refusal: string | undefined, facts: Facts): Verdict {
  const { kubeletRegistrationPath, pattern } = facts.target;
  const path = (pattern ? undefined : kubeletRegistrationPath) ?? endpoint;
  const hint = hintForRefusal(refusal ?? "", path, { foundByPattern: pattern && name });
  const [words, fix] =
    refusal === undefined
      ? ["", `${SEE_REGISTRAR} for kubelet's reason, or kubectl describe pod`]
      : [
          `: ${refusal}`,
          "these are kubelet's words: see its log on the node, journalctl -u kubelet, and docs/troubleshooting.md",
        ];
  return problem(name, `was refused by kubelet${words}`, hint ?? fix, causeOfRefusal(name, words, facts));
}

/** Kubelet could not reach the driver: it got the wrong path, or the driver is down. */
function causeOfRefusal(name: string, words: string, { driver, hostPath }: Facts): string | undefined {
  if (!/dial unix /.test(words)) return /NodeGetInfo|node/i.test(words) ? nodeInfoCause(name) : undefined;
  if (hostPath && explainHostPath(hostPath)) return "host-path";
  return driver && downCause(driver.socket);
}

const otherRegistrations = check("CSI019", "other-registrations", (facts: Facts) => {
  const rest = facts.registrations.filter((one) => !isTargets(one, facts));
  const names = rest.flatMap(({ info }) => answerIn(info)?.name ?? []);
  const verdicts = rest.map((one) => judgeOther(one, facts));
  if (names.length === 0) return verdicts;
  return [...verdicts, ok(names.join(", "), names.length === 1 ? "answers too" : "answer too")];
});

function judgeOther(one: RegistrationFacts, facts: Facts): Verdict | undefined {
  const { path } = one.socket;
  if (one.info.kind !== "answered") {
    const { text, fix, unseen } = troubleOf(one, driverLeftIn(one, facts) !== undefined, facts);
    if (unseen !== undefined) return unknown(path, text, fix);
    const isOnly = facts.target.csiSocketPath === undefined && isDeserted(facts);
    return isOnly
      ? problem(path, `${text}; this node has no other driver`, `start the driver, or ${fix}`)
      : warning(path, text, fix);
  }
  const { type } = one.info.value;
  const known: readonly string[] = behaviourOf(NEWEST_SIMULATED).pluginTypes;
  if (known.includes(type)) return undefined;
  const text = `is of type "${type}", for which kubelet has no handler`;
  return warning(path, text, "remove the plugin, or correct its type");
}

const CORRECT_PATH =
  "correct the registrar's --kubelet-registration-path and the hostPath of the driver's folder";

const registrationEndpoint = check("CSI016", "registration-endpoint", (facts: Facts) =>
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

const registrationVersions = check("CSI017", "registration-versions", (facts: Facts) =>
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

const registrationDuplicates = check("CSI018", "registration-duplicates", (facts: Facts) =>
  [...grouped(answeringIn(facts), ({ info }) => info.name)].map(([name, ones]) => {
    const isTargets = ones.some((one) => one.isTargets);
    const [{ info, path, report }] = ones;
    const cause = duplicatesCause(info.endpoint);
    if (ones.length > 1) {
      const paths = ones.map((one) => one.path).join(", ");
      const text = `has ${ones.length} living registration sockets: ${paths}; kubelet refuses all but one, and when any goes the driver is deregistered`;
      return (isTargets ? problem : warning)(name, text, LEAVE_ONE, cause);
    }
    const { standbys = 0 } = report ?? {};
    const registrars =
      standbys === 1 ? "a second registrar that stands" : `${standbys} more registrars that stand`;
    if (standbys > 0) return warning(name, `has ${registrars} by for the one on ${path}`, LEAVE_ONE, cause);
    return isTargets ? ok(name, "has one living registration socket") : undefined;
  }),
);

export const registrationChecks = [
  registrationCheck,
  otherRegistrations,
  registrationEndpoint,
  registrationVersions,
  registrationDuplicates,
];
