import { basename, dirname } from "node:path";
import { REMINDERS, reminderMs } from "../../../../base/backoff";
import { validateVersions } from "../../../../kubelet-rules/driver-versions";
import { behaviourOf, NEWEST_SIMULATED } from "../../../../kubelet-rules/versions";
import { hintForRefusal, withoutDriversWords } from "../../../../registrar/registration/hints";
import type { RegistrationReport } from "../../../../registrar/registration/self-report";
import { onFileSystem } from "../../../../unix/mounts";
import type { Cause } from "../../findings/causes";
import {
  causeIn,
  check,
  ok,
  problem,
  skipped,
  softened,
  unknown,
  unsureEach,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { atLeast } from "../../findings/least";
import {
  type Group,
  ifYes,
  isWhole,
  lacking,
  nothing,
  otherwise,
  type SeenList,
  type Truth,
  withheld,
  words,
} from "../../findings/seen";
import { LEAVE_ONE, namedText } from "../../findings/words";
import type { Folder, PluginLook } from "../read/looks";
import { asAsked, judgeEndpoint } from "./endpoint";
import { processesOf, seeProcess } from "./found";
import { folderCheck } from "./machine";
import { ADVICE, CAUSES, DEAD, HANGING, LIMITS, RESTART_REGISTRARS, unsureOfOthers } from "./trouble";
import { type Answering, answeredBy, type Published, type View } from "./view";

const SEE_CSI_NODES = {
  fix: "see the drivers that kubelet registered",
  command: "kubectl get csinodes -o custom-columns='NODE:.metadata.name,DRIVERS:.spec.drivers[*].name'",
};

const registration = folderCheck("CSI015", "registration", (directory, view) => {
  const theirs = view.registrations.filter((one) => one.isAskedFor);
  const isLeftBehind = ({ answer }: Published) =>
    answer.is((one) => one.kind === "trouble" && one.isAlias.not().and(one.state === DEAD.state));
  const left = theirs.filter(isLeftBehind).together();
  const isAmong = (one: Published) => isLeftBehind(one).and(left.contains((ones) => ones.others.contains()));
  return [
    left.map((ones) => ifYes(ones.others.contains(), () => judgeLeftBehind(ones, directory))),
    theirs.map((one) => isAmong(one)({ yes: nothing, ...otherwise(() => judgeRegistration(one, view)) })),
    ifYes(theirs.contains().not().and(!view.isForAll), () => judgeUnpublished(directory, view)),
  ];
});

/** A node-wide registrar that ended leaves a socket for each driver. */
function judgeLeftBehind(ones: Group<Published>, { path }: Folder): Verdict {
  const text = words`has ${ones.counted("socket")} that registrars left behind: no process listens on ${ones.named((one) => basename(one.path))}`;
  return problem(path, text, RESTART_REGISTRARS);
}

const SEE_REGISTRAR = "see whether its registrar runs, and whether its --plugin-registration-path leads here";

function judgeUnpublished({ path }: Folder, view: View): Verdicts {
  const { targetNames, driver } = view;
  const fix = driver ? processesOf(driver, view).map(seeProcess).told(SEE_REGISTRAR) : SEE_REGISTRAR;
  // Kubelet, or the registrar, refuses a driver with such a name or node information. CSI002 or CSI003 says why it has no name.
  return targetNames.map((name) =>
    problem(namedText(name), `has no registration socket in ${path}`, fix, CAUSES.nodeInfo(name)),
  );
}

const judgeRegistration = (one: Published, view: View): SeenList<Verdicts> =>
  one.answer.map((said) =>
    said.kind === "plugin"
      ? judgeAnswered(answeredBy(one, said), view)
      : problem(one.path, said.text, said.fix),
  );

/** After it the registrar itself warns. */
const KUBELET_COMES_MS = reminderMs(REMINDERS.kubeletSilent, 0);
const LOOK_LATER = `run doctor again ${KUBELET_COMES_MS / 1000} s after it was published`;

export function judgeAnswered(one: Answering, view: View): Verdicts {
  const { path, plugin } = one;
  const { report } = plugin;
  const name = namedText(plugin.name);
  const versions = versionsProblem(plugin);
  const hint = versions && hintForRefusal(versions, path);
  const refuse = () => problem(name, `will be refused: ${versions}`, hint ?? ADVICE.seeRegistrar);
  const unreported = `has a registrar on ${path} that does not report whether kubelet registered it`;
  const reported = report.map((told) =>
    versions && told.state !== "registered" && told.kubeletError === undefined
      ? refuse()
      : judgeReport(told, one, view),
  );
  return atLeast(reported.contains(), {
    yes: () => reported,
    least: () => (versions ? refuse() : skipped(name, unreported, SEE_CSI_NODES)),
    unknown: withheld,
  });
}

function judgeReport(report: RegistrationReport, one: Answering, view: View): Verdict {
  const { path } = one;
  const name = namedText(one.plugin.name);
  const { state, reason, kubeletError, changedAtMs } = report;
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
  const ageMs = view.nowMs - changedAtMs;
  if (ageMs < 0)
    return unknown(name, `${text}: it was published in the future, by the clock here`, ADVICE.seeRegistrar);
  if (ageMs < KUBELET_COMES_MS)
    return unknown(name, `${text}: it was published ${Math.floor(ageMs / 1000)} s ago`, LOOK_LATER);
  return problem(name, text, ...remedyForSilence(dirname(path), view));
}

const remedyIn = (directory: string) =>
  `${directory} must be plugins_registry in kubelet's --root-dir; kubelet must be running, and SELinux must let it open the socket`;

/** Why kubelet may not call on what is published in its directory. */
function remedyForSilence(path: string, { folder, processes }: View) {
  const places = folder.flatMap(({ place }) => place.items((one) => one));
  const silence = places.map((one) => remedyIn(path + onFileSystem(path, one.path))).told(remedyIn(path));
  const isDeaf = processes.kubelets.contains((one) => one.isDeaf.and(one.isHere));
  // Unless its own files show that it gets events.
  const hears = processes.kubelets.contains((one) => one.isDeaf.not().and(one.isHere));
  const mayBeDeaf = words`${silence}; or kubelet gets no events: ${LIMITS} are reached, or that file system has none`;
  const fix = ifYes(hears, () => silence).told(mayBeDeaf);
  const isDead = folder.contains(({ kubeletSocket }) => kubeletSocket.at.is(({ kind }) => kind === "dead"));
  const isOverlay = places.contains(({ fileSystem }) => fileSystem === "overlay");
  const causes = ifYes<Cause>(isOverlay, () => ({ kind: "not-kubelets" })).with(
    ifYes<Cause>(isDeaf.or(isDead), () => ({ kind: "kubelet-down" })),
  );
  return [fix, causes.told(undefined)] as const;
}

/** Kubelet's own words on versions that it does not take. */
function versionsProblem({ type, name, supportedVersions }: PluginLook): string | undefined {
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
function causeOfRefusal(one: Answering, refusal: string, view: View) {
  if (!/dial unix /.test(withoutDriversWords(refusal)))
    return /node/i.test(refusal) ? CAUSES.nodeInfo(one.plugin.name) : undefined;
  const { driver, hostPath } = view;
  const down = driver?.socket.at.map((there) => CAUSES.down(there, there.path)).told(undefined);
  const isWrong = hostPath.is(({ kind }) => kind === "wrong");
  return ifYes<Cause>(isWrong, () => ({ kind: "host-path" })).told(causeIn(judgeEndpoint(one, view), down));
}

const WHOSE = "; whether it is of the driver that was asked for is not known";

const others = check("CSI019", "other-registrations", (view: View) =>
  view.registrations.map((one): Verdicts => {
    const { isAskedFor, answer, path } = one;
    const judge = () =>
      answer.map((said) => {
        if (said.kind === "plugin") return judgeOtherKind(answeredBy(one, said), view);
        if (said.isIgnored) return skipped(path, `${said.text}: kubelet ignores it`, said.fix);
        const { text, fix } = said;
        const say = () => warning(path, text, fix);
        const alone = () => problem(path, `${text}; this node has no other driver`, fix);
        if (said.state === HANGING && view.isForAll)
          return unknown(path, `${text}; whether it is a CSI driver's is not known`, fix);
        return atLeast(view.isDeserted.and(view.isForAll), {
          yes: alone,
          least: say,
          unknown: () => unsureOfOthers(say()),
        });
      });
    return atLeast(isAskedFor, {
      yes: nothing,
      least: judge,
      unknown: () => unsureEach(judge(), view.isForAll ? "" : WHOSE),
    });
  }),
);

/** A DRA driver, or a device plugin, has a registrar that says the same of itself. */
function judgeOtherKind(one: Answering, view: View): Verdicts {
  if (one.plugin.type === "CSIPlugin") return undefined;
  return softened(judgeAnswered(one, view), "problem");
}

const duplicates = check("CSI018", "registration-duplicates", ({ answering, reporting }: View) => [
  reporting.filter(hasStandby).together().map(judgeStandbys),
  answering
    .grouped(({ plugin }) => plugin.name)
    .map((ones) => {
      const isAskedFor = ones.contains((one) => one.isAskedFor);
      const { endpoint } = ones.first.plugin;
      const name = namedText(ones.first.plugin.name);
      const living = words`has ${ones.counted("living registration socket")}, of which kubelet refuses all but one: ${ones.joined((one) => one.path)}`;
      const judgeOne = () =>
        ifYes(isAskedFor.and(isWhole(answering)), () =>
          atLeast(hasStandby(ones.first), {
            ...{ yes: nothing, unknown: withheld },
            least: () => ok(name, "has one living registration socket"),
          }),
        );
      return ones.others.some({
        yes: () => asAsked(isAskedFor)(name, living, LEAVE_ONE, CAUSES.duplicates(endpoint)),
        ...otherwise(judgeOne),
      });
    }),
]);

const hasStandby = ({ plugin }: Answering): Truth =>
  plugin.report.is(({ standbys }) => standbys > 0).and(plugin.type === "CSIPlugin");

/** A node-wide registrar stands by for all drivers. */
function judgeStandbys(ones: Group<Answering>): Verdict {
  const have = atLeast(ones.others.contains(), {
    ...{ yes: () => "have", least: () => "has" },
    unknown: (gaps) => lacking(gaps, "and perhaps others have"),
  });
  const text = words`${have} more than one registrar, of which one works and the others stand by`;
  const fix = `wait if a DaemonSet with maxSurge is being rolled out; otherwise ${LEAVE_ONE}`;
  const names = ones.named(({ plugin }) => plugin.name);
  return warning(names, text, fix, CAUSES.duplicates(ones.first.plugin.endpoint));
}

export const registrationChecks = [registration, others, duplicates];
