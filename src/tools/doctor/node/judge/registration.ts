import { basename, dirname } from "node:path";
import type { PluginInfo } from "../../../../grpc/protos";
import { validateVersions } from "../../../../kubelet-rules/driver-versions";
import { behaviourOf, NEWEST_SIMULATED } from "../../../../kubelet-rules/versions";
import {
  explainSilence,
  hintForRefusal,
  withoutDriversWords,
} from "../../../../registrar/registration/hints";
import { onFileSystem } from "../../../../unix/mounts";
import type { Cause } from "../../findings/causes";
import {
  causeIn,
  check,
  ok,
  problem,
  skipped,
  unknown,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { evenSo, otherwise, withheld } from "../../findings/seen";
import { callText } from "../../findings/why";
import { firstOf, LEAVE_ONE, namedText } from "../../findings/words";
import { socketIs } from "../read/facts";
import { byProcess, driversIn, seeProcess } from "./found";
import {
  ADVICE,
  CAUSES,
  DEAD,
  LIMITS,
  RESTART_REGISTRARS,
  remedyFor,
  socketText,
  unsureOfOthers,
} from "./trouble";
import { type Answering, type Folder, isCalled, isInSight, type Published, pathFix, type View } from "./view";

const SEE_SETS = {
  fix: "if a driver should be here, see whether its DaemonSet is there, and ready",
  command: "kubectl get daemonsets -A -o wide",
};
const SEE_CSI_NODES = {
  fix: "see the drivers that kubelet registered",
  command: "kubectl get csinodes -o custom-columns='NODE:.metadata.name,DRIVERS:.spec.drivers[*].name'",
};
const NO_CONNECTION = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };

const registration = check("CSI015", "registration", (view: View) => {
  const { directory, registrations } = view;
  if (directory.kind === "unread" || directory.kind !== "directory") return undefined;
  const theirs = registrations.filter((one) => one.isAskedFor);
  return [
    theirs
      .grouped((one) => (isLeftBehind(one) ? "" : one.path))
      .map((ones) => (ones.length > 1 ? judgeLeftBehind(ones, directory) : judgeRegistration(ones[0], view))),
    theirs.contains(() => true)<Verdict | undefined>({
      ...{ yes: () => undefined, unknown: () => withheld },
      no: () => judgeUnpublished(directory, view),
    }),
  ];
});

const isLeftBehind = ({ answer }: Published) => "trouble" in answer && answer.trouble === DEAD;

/** A node-wide registrar that ended leaves a socket for each driver. */
function judgeLeftBehind(ones: readonly Published[], { path }: Folder): Verdict {
  const names = firstOf(ones.map((one) => basename(one.path)));
  const text = `has ${ones.length} sockets that registrars left behind: no process listens on ${names}`;
  return problem(path, text, RESTART_REGISTRARS);
}

const SEE_REGISTRAR = "see whether its registrar runs, and whether its --plugin-registration-path leads here";

function judgeUnpublished({ path }: Folder, view: View): Verdict | undefined {
  const { isWhole, targetName } = view;
  const rows = driversIn(view).contains(() => true);
  const text = "has no registration socket on which a CSI driver's registrar answers";
  const unsure = () => unknown(path, text, SEE_SETS);
  if (isWhole) return rows({ yes: () => skipped(path, text, SEE_SETS), ...otherwise(unsure) });
  // CSI002 or CSI003 says why its name is not known.
  if (targetName === null) return undefined;
  const fix = view.driver ? byProcess(view.driver, view, seeProcess, SEE_REGISTRAR) : SEE_REGISTRAR;
  // Kubelet, or the registrar, refuses a driver with such a name or node information.
  const lack = `has no registration socket in ${path}`;
  return problem(namedText(targetName), lack, fix, CAUSES.nodeInfo(targetName));
}

function judgeRegistration({ answer, ...one }: Published, view: View): Verdict | undefined {
  if (answer.kind === "unread") return undefined;
  if (answer.kind === "trouble") return problem(one.path, answer.trouble.text, answer.trouble.fix);
  return judgeAnswered({ ...one, plugin: answer.plugin }, view);
}

function judgeAnswered(one: Answering, view: View): Verdict | undefined {
  const { path, plugin } = one;
  const { name, report } = plugin;
  const versions = report?.state === "registered" ? undefined : versionsProblem(plugin);
  if (versions !== undefined && report?.kubeletError === undefined) {
    const hint = hintForRefusal(versions, path) ?? ADVICE.seeRegistrar;
    return problem(name, `will be refused: ${versions}`, hint);
  }
  if (report === undefined) {
    const text = `has a registrar on ${path} that does not report whether kubelet registered it`;
    return skipped(name, text, SEE_CSI_NODES);
  }
  const { state, reason, kubeletError } = report;
  // With policy retry the registrar publishes again after a refusal: until kubelet comes, its last words count.
  if (state === "refused" || (state !== "registered" && kubeletError !== undefined))
    return judgeRefusal(one, kubeletError, view);
  if (state === "registered")
    return ok(name, `is registered with kubelet, as its registrar reports on ${path}`);
  if (state !== "listening") {
    const text = `is not registered yet: its registrar is ${[state, reason].filter(Boolean).join(": ")}`;
    return warning(name, text, `look again in a while, and ${ADVICE.seeRegistrar}`);
  }
  const text = `is published on ${path}, but ${reason ?? "kubelet does not call"}`;
  return problem(name, text, ...remedyForSilence(dirname(path), view));
}

/** Why kubelet may not call on what is published in its directory. */
function remedyForSilence(path: string, { directory, processes }: View): readonly [string, Cause?] {
  if (directory.kind === "unread" || directory.kind !== "directory")
    return [explainSilence(path, NO_CONNECTION)];
  const { place, kubeletSocket } = directory;
  const [onHost, fileSystem] =
    place.kind === "unread" ? [path, ""] : [place.value.path, place.value.fileSystem];
  const silence = explainSilence(path + onFileSystem(path, onHost), NO_CONNECTION);
  const isDeaf = processes.kubelets.contains((one) => one.isDeaf.and(one.isHere));
  // Unless its own files show that it gets events.
  const hears = processes.kubelets.contains((one) => one.isDeaf.not().and(one.isHere));
  const mayBeDeaf = () =>
    `${silence}; or kubelet gets no events: ${LIMITS} are reached, or that file system has none`;
  const fix = hears({ yes: () => silence, ...otherwise(mayBeDeaf) });
  if (fileSystem === "overlay") return [fix, { kind: "not-kubelets" }];
  return isDeaf.or(socketIs(kubeletSocket, ({ kind }) => kind === "dead"))<readonly [string, Cause?]>({
    yes: () => [fix, { kind: "kubelet-down" }],
    ...{ no: () => [fix], unknown: () => [fix] },
  });
}

/** Kubelet's own words on versions that it does not take. */
function versionsProblem({ type, name, supportedVersions }: PluginInfo): string | undefined {
  if (type !== "CSIPlugin") return undefined;
  const { versionsWording } = behaviourOf(NEWEST_SIMULATED);
  const judged = validateVersions("ValidatePlugin", name, supportedVersions, undefined, versionsWording);
  return typeof judged === "string" ? judged : undefined;
}

function judgeRefusal(one: Answering, refusal: string | undefined, view: View): Verdict {
  const { name, endpoint } = one.plugin;
  if (refusal === undefined)
    return problem(name, "was refused by kubelet", `${ADVICE.seeRegistrar} for kubelet's reason`);
  const { kubeletRegistrationPath = endpoint, pattern } = view.target;
  const hint = hintForRefusal(refusal, pattern ? endpoint : kubeletRegistrationPath, {
    foundByPattern: pattern && name,
  });
  const fix = hint ?? "see kubelet's log on the node, journalctl -u kubelet, and docs/troubleshooting.md";
  return problem(name, `was refused by kubelet: ${refusal}`, fix, causeOfRefusal(one, refusal, view));
}

/** Kubelet could not reach the driver: it got the wrong path, or the driver is down. */
function causeOfRefusal(one: Answering, refusal: string, view: View): Cause | undefined {
  if (!/dial unix /.test(withoutDriversWords(refusal)))
    return /node/i.test(refusal) ? CAUSES.nodeInfo(one.plugin.name) : undefined;
  const { driver, hostPath } = view;
  if (hostPath.kind !== "unread" && hostPath.kind === "wrong") return { kind: "host-path" };
  return causeIn(judgeEndpoint(one, view)) ?? (driver && CAUSES.down(driver.socket));
}

const others = check("CSI019", "other-registrations", (view: View) => [
  view.registrations.map((one) => {
    const { isAskedFor, answer, path } = one;
    if (isAskedFor || answer.kind === "unread") return undefined;
    if (answer.kind === "plugin") return judgeOtherKind({ ...one, plugin: answer.plugin }, view);
    const { text, fix } = answer.trouble;
    const say = () => warning(path, text, fix);
    const alone = () => problem(path, `${text}; this node has no other driver`, fix);
    return view.isDeserted.and(view.isWhole)({ yes: alone, no: say, unknown: () => unsureOfOthers(say()) });
  }),
]);

/** A DRA driver, or a device plugin, has a registrar that says the same of itself. */
function judgeOtherKind(one: Answering, view: View): Verdict | undefined {
  if (one.plugin.type === "CSIPlugin") return undefined;
  const verdict = one.plugin.report && judgeAnswered(one, view);
  return verdict?.status === "problem" ? { ...verdict, status: "warning" } : undefined;
}

const CORRECT_PATH =
  "correct the registrar's --kubelet-registration-path and the hostPath of the driver's directory";

const endpoints = check("CSI016", "registration-endpoint", (view: View) => [
  view.answering.map((one) => judgeEndpoint(one, view)),
]);

function judgeEndpoint({ plugin, isAskedFor, endpoint, path }: Answering, view: View): Verdicts {
  const { target, isWhole, hostPath, drivers, socketsOnHost } = view;
  const { name } = plugin;
  const own = drivers.filter((driver) => isCalled(driver, name)).all();
  const inode = own.kind === "seen" && own.value.length === 1 ? own.value[0]?.socket.inode : undefined;
  const fixPath = pathFix(inode, view, CORRECT_PATH);
  const wrong = { kind: "endpoint", driver: name } as const;
  const told = target.kubeletRegistrationPath;
  const bad = isAskedFor ? problem : warning;
  const ifTargets = (verdict: Verdict) => (isAskedFor ? verdict : undefined);
  const place = plugin.endpoint === "" ? `${path}, its registration socket` : plugin.endpoint;
  const saidAt = `is said to be at ${place}`;
  if (endpoint === undefined)
    return bad(name, `${saidAt}, which is not an absolute path of a file`, fixPath, wrong);
  if (isAskedFor && !isWhole && told !== undefined && told !== plugin.endpoint)
    return problem(name, `${saidAt}, not at ${told}`, fixPath, wrong);
  const { socket, identity } = endpoint;
  // Another finding says why.
  if (socket.kind === "unread" || identity?.kind === "unread") return undefined;
  const judge = () => {
    if (socket.kind !== "accepting") {
      const [fix, cause] = remedyFor(socket, view, target.csiSocketPath);
      // A driver of that name that is alive elsewhere needs no start.
      const isElsewhere = cause === undefined || (inode !== undefined && inode !== socket.inode);
      return bad(name, `${saidAt}, which ${socketText(socket)}`, isElsewhere ? fixPath : fix, cause ?? wrong);
    }
    if (identity?.kind === "failed") {
      const fix = identity.code === "DeadlineExceeded" ? ADVICE.driverHangs : fixPath;
      return bad(name, `${saidAt}, which ${callText(identity)}`, fix, CAUSES.nameless(socket));
    }
    if (identity && identity.value.name !== name)
      return bad(name, `${saidAt}, where the driver ${identity.value.name} answers`, fixPath, wrong);
    // What answers at this path in the container may be nothing on the host.
    if (isAskedFor && told === plugin.endpoint && hostPath.kind !== "unread" && hostPath.kind === "wrong")
      return problem(name, `${saidAt}; ${hostPath.problem}`, hostPath.fix, { kind: "host-path" });
    return ifTargets(ok(name, `is at the path that kubelet gets: ${place}`));
  };
  if (socket.kind !== "unseen") return judge();
  // What the mounts put there is the socket of --csi-address: this driver's.
  const isMounted = told === plugin.endpoint && hostPath.kind !== "unread" && hostPath.kind === "fits";
  const isOwn = isMounted && inode !== undefined && inode === view.driver?.socket.inode;
  const byMounts = ok(name, `is at the path that kubelet gets, by the mounts of this container: ${place}`);
  const unseen = unknown(name, `${saidAt} on the host, which cannot be seen from here`);
  const hidden = () => ifTargets(isOwn ? byMounts : unseen);
  const isOnHost = isInSight(socket.path, view).or(socketsOnHost.contains((one) => one.inode === inode));
  return isOnHost<Verdict | undefined>({ yes: judge, no: hidden, unknown: evenSo(hidden) });
}

const duplicates = check("CSI018", "registration-duplicates", ({ answering }: View) => [
  answering
    .filter(hasStandby)
    .grouped(() => "")
    .map(judgeStandbys),
  answering
    .grouped(({ plugin }) => plugin.name)
    .map((ones) => {
      const isAskedFor = ones.some((one) => one.isAskedFor);
      const { name } = ones[0].plugin;
      const cause = CAUSES.duplicates(ones[0].plugin.endpoint);
      const paths = ones.map((one) => one.path).join(", ");
      const living = `has ${ones.length} living registration sockets, of which kubelet refuses all but one: ${paths}`;
      if (ones.length > 1) return (isAskedFor ? problem : warning)(name, living, LEAVE_ONE, cause);
      const isOne = isAskedFor && !hasStandby(ones[0]) && answering.all().kind === "seen";
      return isOne ? ok(name, "has one living registration socket") : undefined;
    }),
]);

const hasStandby = ({ plugin }: Answering): boolean => (plugin.report?.standbys ?? 0) > 0;

/** A node-wide registrar stands by for all drivers. */
function judgeStandbys(ones: readonly [Answering, ...Answering[]]): Verdict {
  const text = `${ones.length > 1 ? "have" : "has"} more than one registrar, of which one works and the others stand by`;
  const fix = `wait if a DaemonSet with maxSurge is being rolled out; otherwise ${LEAVE_ONE}`;
  const names = ones.map(({ plugin }) => plugin.name);
  return warning(firstOf(names), text, fix, CAUSES.duplicates(ones[0].plugin.endpoint));
}

export const registrationChecks = [registration, others, endpoints, duplicates];
