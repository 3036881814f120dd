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
import { changed, ifYes, isWhole, orElse, otherwise } from "../../findings/seen";
import { firstOf, LEAVE_ONE, namedText } from "../../findings/words";
import type { Folder } from "../read/looks";
import { asAsked, judgeEndpoint } from "./endpoint";
import { byProcess, driversIn, seeProcess } from "./found";
import { folderCheck } from "./machine";
import { ADVICE, CAUSES, DEAD, LIMITS, RESTART_REGISTRARS, unsureOfOthers } from "./trouble";
import { type Answering, answeredBy, type Published, type View } from "./view";

const SEE_SETS = {
  fix: "if a driver should be here, see whether its DaemonSet is there, and ready",
  command: "kubectl get daemonsets -A -o wide",
};
const SEE_CSI_NODES = {
  fix: "see the drivers that kubelet registered",
  command: "kubectl get csinodes -o custom-columns='NODE:.metadata.name,DRIVERS:.spec.drivers[*].name'",
};
const NO_CONNECTION = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };

const registration = folderCheck("CSI015", "registration", (directory, view) => {
  const theirs = view.registrations.filter((one) => one.isAskedFor);
  return [
    theirs
      .grouped(({ path, answer }) =>
        answer({
          seen: (one) => (one.kind === "trouble" && one.trouble === DEAD ? "" : path),
          unread: () => path,
        }),
      )
      .map((ones) => (ones.length > 1 ? judgeLeftBehind(ones, directory) : judgeRegistration(ones[0], view))),
    ifYes(theirs.contains().not(), () => judgeUnpublished(directory, view)),
  ];
});

/** A node-wide registrar that ended leaves a socket for each driver. */
function judgeLeftBehind(ones: readonly Published[], { path }: Folder): Verdict {
  const names = firstOf(ones.map((one) => basename(one.path)));
  const text = `has ${ones.length} sockets that registrars left behind: no process listens on ${names}`;
  return problem(path, text, RESTART_REGISTRARS);
}

const SEE_REGISTRAR = "see whether its registrar runs, and whether its --plugin-registration-path leads here";

function judgeUnpublished({ path }: Folder, view: View): Verdicts {
  const { isWhole, targetNames, driver } = view;
  const rows = driversIn(view).contains();
  const text = "has no registration socket on which a CSI driver's registrar answers";
  const unsure = () => unknown(path, text, SEE_SETS);
  if (isWhole) return rows({ yes: () => skipped(path, text, SEE_SETS), ...otherwise(unsure) });
  const fix = driver ? byProcess(driver, view, seeProcess, SEE_REGISTRAR) : SEE_REGISTRAR;
  // Kubelet, or the registrar, refuses a driver with such a name or node information. CSI002 or CSI003 says why it has no name.
  return targetNames.map((name) =>
    problem(namedText(name), `has no registration socket in ${path}`, fix, CAUSES.nodeInfo(name)),
  );
}

const judgeRegistration = (one: Published, view: View): Verdicts =>
  one.answer.map((said) =>
    said.kind === "plugin"
      ? judgeAnswered(answeredBy(one, said), view)
      : problem(one.path, said.trouble.text, said.trouble.fix),
  );

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
function remedyForSilence(path: string, { folder, processes }: View): readonly [string, Cause?] {
  const places = folder.flatMap(({ place }) => place.items((one) => one));
  const onHost = places.some({ yes: ([one]) => onFileSystem(path, one.path), ...otherwise(() => "") });
  const silence = explainSilence(path + onHost, NO_CONNECTION);
  const isDeaf = processes.kubelets.contains((one) => one.isDeaf.and(one.isHere));
  // Unless its own files show that it gets events.
  const hears = processes.kubelets.contains((one) => one.isDeaf.not().and(one.isHere));
  const mayBeDeaf = () =>
    `${silence}; or kubelet gets no events: ${LIMITS} are reached, or that file system has none`;
  const fix = hears({ yes: () => silence, ...otherwise(mayBeDeaf) });
  const isDead = folder.contains(({ kubeletSocket }) => kubeletSocket.at.is(({ kind }) => kind === "dead"));
  const byKubelet = () =>
    isDeaf.or(isDead)<readonly [string, Cause?]>({
      yes: () => [fix, { kind: "kubelet-down" }],
      ...orElse((): readonly [string] => [fix]),
    });
  return places.contains(({ fileSystem }) => fileSystem === "overlay")<readonly [string, Cause?]>({
    yes: () => [fix, { kind: "not-kubelets" }],
    ...orElse(byKubelet),
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
  const down = () =>
    view.driver?.socket.at<Cause | undefined, null>({
      seen: (one) => CAUSES.down(one),
      unread: () => null,
    }) ?? undefined;
  const byDriver = () => causeIn(judgeEndpoint(one, view)) ?? down();
  return view.hostPath.is(({ kind }) => kind === "wrong")({
    yes: (): Cause => ({ kind: "host-path" }),
    ...orElse(byDriver),
  });
}

const others = check("CSI019", "other-registrations", (view: View) =>
  view.registrations.map((one): Verdicts => {
    const { isAskedFor, answer, path } = one;
    const judge = () =>
      answer.map((said) => {
        if (said.kind === "plugin") return judgeOtherKind(answeredBy(one, said), view);
        const { text, fix } = said.trouble;
        const say = () => warning(path, text, fix);
        const alone = () => problem(path, `${text}; this node has no other driver`, fix);
        return view.isDeserted.and(view.isWhole)({
          yes: alone,
          no: say,
          unknown: () => unsureOfOthers(say()),
        });
      });
    return isAskedFor({ yes: () => undefined, ...orElse(judge) });
  }),
);

/** A DRA driver, or a device plugin, has a registrar that says the same of itself. */
function judgeOtherKind(one: Answering, view: View): Verdicts {
  if (one.plugin.type === "CSIPlugin" || one.plugin.report === undefined) return undefined;
  return changed(judgeAnswered(one, view), (verdict) =>
    verdict.status === "problem" ? { ...verdict, status: "warning" } : undefined,
  );
}

const duplicates = check("CSI018", "registration-duplicates", ({ answering }: View) => [
  answering
    .filter(hasStandby)
    .grouped(() => "")
    .map(judgeStandbys),
  answering
    .grouped(({ plugin }) => plugin.name)
    .map((ones) => {
      const isAskedFor = ones.map((one) => one.isAskedFor).reduce((one, other) => one.or(other));
      const { name } = ones[0].plugin;
      const cause = CAUSES.duplicates(ones[0].plugin.endpoint);
      const paths = ones.map((one) => one.path).join(", ");
      const living = `has ${ones.length} living registration sockets, of which kubelet refuses all but one: ${paths}`;
      if (ones.length > 1) return asAsked(isAskedFor)(name, living, LEAVE_ONE, cause);
      const isOne = isAskedFor.and(!hasStandby(ones[0])).and(isWhole(answering));
      return ifYes(isOne, () => ok(name, "has one living registration socket"));
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

export const registrationChecks = [registration, others, duplicates];
