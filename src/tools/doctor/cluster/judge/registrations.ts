import { otherKubeletRoots } from "../../../../host-path/kubelet-roots";
import { isOurs } from "../../files/read/registrars";
import {
  type Advice,
  also,
  check,
  judgeAlike,
  ok,
  unknown,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { asFarAsAsked, mayBeSo } from "../../findings/least";
import {
  type Group,
  ifYes,
  isWhole,
  keyFrom,
  type Lacking,
  lacking,
  listFrom,
  nothing,
  type Text,
  type Truth,
  words,
} from "../../findings/seen";
import { LEAVE_ONE, shellWord } from "../../findings/words";
import type { ClusterTarget } from "../read/cluster";
import type { Container } from "../read/ending";
import type { PodTrouble, RegistrarPod } from "../read/pod";
import { isEvery, isGuess, isOneDriver, type RegistrarUnit } from "../read/units";
import type { ClusterFacts } from "./facts";
import { alikeIn, kubectl, kubectlFor, placeCheck, problemsOf, whoWaits } from "./groups";
import { ONE_SET } from "./places";
import {
  inState,
  isDenied,
  isUnwritten,
  isWithoutRegistrar,
  type Place,
  restartingIn,
  sayReason,
  troubleIn,
  twinsIn,
  whyIn,
} from "./state";
import { lackText } from "./troubles";

const registered = check<ClusterFacts>("CSI204", "registered", (facts) => [
  problemsOf(facts, isDenied, "is in CSINode, but ", whereToLook),
  problemsOf(facts, isUnlisted, "is not in CSINode: ", whereToLook),
  judgeAlike(
    facts.places,
    {
      ...alikeIn(facts),
      keyOf: (place) => words`${place.driver} ${sayListing(place)} ${sayReason(place.state)}`,
    },
    (places) => places.first.state({ seen: nothing, unread: () => judgeUnseen(places, facts) }),
  ),
  healthyDrivers(facts),
]);

const isUnlisted = (place: Place): Truth => inState("unregistered")(place).and(isDenied(place).not());

const POSSIBLY = "is possibly registered";

function sayListing({ driver, node, units, isListed }: Place): Text | Lacking {
  const byList = () =>
    isListed.and(node !== undefined).or(isEvery({ driver }))({
      yes: () => POSSIBLY,
      no: () => "is not in CSINode, and doctor cannot tell why",
      unknown: (gaps) => lacking(gaps, POSSIBLY),
    });
  return units.contains(isGuess)({
    ...{ yes: () => POSSIBLY, no: byList },
    unknown: (gaps) => lacking(gaps, byList()),
  });
}

function judgeUnseen(places: Group<Place>, facts: ClusterFacts): Verdict<"unknown"> {
  const { first } = places;
  const { driver, state, node = "", units, pods } = first;
  const waiting = whoWaits(places, facts, "; needed by ");
  const text = words`${sayListing(first)}: ${sayReason(state)}${waiting}`;
  const compare = () => kubectl(COMPARE_NODES, facts.target, "get nodes,csinodes");
  const seeName = ({ container }: RegistrarUnit): Advice =>
    kubectlFor(pods, facts.target, SEE_NAME, "logs", ` -c ${shellWord(container)}`);
  const fix = ifYes<Advice>(facts.nodeAt(node).contains().not(), compare)
    .with(units.filter(isGuess).map(seeName))
    .told(undefined);
  return unknown(driver, text, fix);
}

const COMPARE_NODES = "run doctor again: Kubernetes removes the CSINode of a deleted Node; compare";
const SEE_NAME = "see the name of its driver in the registrar's log, and whether CSINode lists it";

const SEE_NODE_WIDE =
  "see the log of the node-wide registrar on that node, and its --allow-drivers and --deny-drivers";
const AGAIN = "have it registered again: delete the pod, or restart kubelet if the Node was made anew, too";
const REMOVED = "an admission policy removed its registrar";
const RESTORE = "delete the policy, and restart the driver's DaemonSet";

function whereToLook(place: Place, facts: ClusterFacts): Advice {
  const { units, pods } = place;
  return ifYes(isUnwritten(place), (): Advice => kubectlFor(pods, facts.target, AGAIN, "delete pod"))
    .with(units.map((unit) => whereToLookIn(pods, unit, facts)))
    .told(SEE_NODE_WIDE);
}

function whereToLookIn(pods: Place["pods"], unit: RegistrarUnit, { target, units: all }: ClusterFacts) {
  const byWhom = () =>
    asFarAsAsked(all).contains(isEvery)({
      yes: () => SEE_NODE_WIDE,
      no: () => `${REMOVED}: ${RESTORE}`,
      unknown: (gaps) =>
        words`${REMOVED}, and ${lacking(gaps, lackText(gaps))}: with a node-wide registrar, ${SEE_NODE_WIDE}; without one, ${RESTORE}`,
    });
  const isRemoved = pods.contains((pod) => isWithoutRegistrar(pod, unit).and(!pod.isOver));
  const { container } = unit;
  const { usable, isForWindows } = unit.registrar;
  const log = (fix: string) => kubectlFor(pods, target, fix, "logs", ` -c ${shellWord(container)}`);
  const onWindows = ifYes(isForWindows, () =>
    log("see kubelet's log on the node, and that of the registrar"),
  );
  const onLinux = () => {
    const onNode = log(
      "run registrar doctor --host-root=/host on the node, in kubectl debug node, and see the registrar's log",
    );
    const ours = usable.map(({ paths }) => paths).filter(() => isOurs(unit.registrar));
    const known = ours.flatMap((paths) => paths.map((one) => one));
    const inPod = known.map(({ csiAddress, told }) => {
      const paths = `--csi-address=${shellWord(csiAddress)} --kubelet-registration-path=${shellWord(told)}`;
      const more = ` -c ${shellWord(container)} -- /csi-node-driver-registrar doctor ${paths}`;
      return kubectlFor(pods, target, "run doctor in its container", "exec", more);
    });
    return inPod.told(onNode);
  };
  return ifYes<Advice>(isRemoved, byWhom).with(onWindows).told(onLinux());
}

function healthyDrivers({ places, nodes }: ClusterFacts): Verdicts {
  return places
    .grouped(({ driver }) => driver)
    .map((own) => {
      const isUnwell = asFarAsAsked(places).contains((place) =>
        inState("registered")(place).not().and(isOneDriver(place.driver, own.first.driver)),
      );
      const { driver } = own.first;
      const text = words`is registered on ${own.counted("node", ({ node }) => (node === undefined ? 0 : 1))}`;
      return ifYes(isUnwell.not().and(isWhole(asFarAsAsked(nodes))), () =>
        also(ok(driver, text), { nodes: own }),
      );
    });
}

const RESTARTING = "has a registrar that keeps restarting: ";
const NOT_RUNNING = "has no working pod there: ";
const isRestarting =
  (ofRegistrar: boolean) =>
  (place: Place): Truth =>
    restartingIn(place).contains(({ isRegistrar }) => (ofRegistrar ? isRegistrar : isRegistrar.not()));

/** Of a pod of an older template it may be unknown which of its containers is the registrar. */
const isUnclear = (place: Place): Truth =>
  restartingIn(place).contains(({ isRegistrar }) => mayBeSo(isRegistrar).and(mayBeSo(isRegistrar.not())));

const adviceOn = (place: Place, facts: ClusterFacts): Advice =>
  restartingIn(place)
    .map((container) => adviceOnContainer(container, place, facts))
    .told("");

const driverPods = check<ClusterFacts>("CSI203", "driver-pods", (facts) => [
  problemsOf(facts, isRestarting(false), "keeps restarting: ", adviceOn),
  problemsOf(facts, isUnclear, "has a pod that keeps restarting: ", adviceOn),
]);

const SEE_WHY = "see why it ended";
function adviceOnContainer({ name, end, restarts }: Container, { pods }: Place, { target }: ClusterFacts) {
  const previous = restarts === 0 ? "" : " --previous";
  const log = (fix: string) => kubectlFor(pods, target, fix, "logs", ` -c ${shellWord(name)}${previous}`);
  return end
    .map(({ message, exitCode }): Advice => {
      if (message !== "") return log("do what its termination message says; for the whole log");
      if (exitCode === 137 || exitCode === 143)
        return kubectlFor(pods, target, "see what ended it, its memory limit or a probe", "describe pod");
      return log(SEE_WHY);
    })
    .told(log(SEE_WHY));
}

/** Kubelet's message (pkg/volume/hostpath) where what a pod mounts is not there, or is of another type. */
const TYPE_CHECK = /hostPath type check failed: (\S*?)\/? is not a /;
/** Kubelet makes these when it starts. */
const KUBELETS_OWN = /\/(?:plugins_registry|kubelet(?:\/plugins|\/pods)?)$/;

const CORRECT_MOUNT =
  "correct that hostPath, or its type: DirectoryOrCreate makes a directory that the node lacks; for all events";

const seePod = (place: Place, facts: ClusterFacts): Advice =>
  troubleIn(place)
    .map((trouble) => seePodIn(trouble, place, facts))
    .told(kubectlFor(place.pods, facts.target, SEE_EVENTS, "describe pod"));

const SEE_EVENTS = "see its events";
function seePodIn(trouble: PodTrouble, { pods }: Place, { target }: ClusterFacts): Advice {
  const onMount = (failure: string): Advice | undefined => {
    const [, mounted] = TYPE_CHECK.exec(failure) ?? [];
    if (mounted === undefined) return undefined;
    if (!KUBELETS_OWN.test(mounted)) return kubectlFor(pods, target, CORRECT_MOUNT, "describe pod");
    return `kubelet has another root directory on that node: find its --root-dir, and mount what is in it, the value kubeletDir of many charts. Usual ones: ${otherKubeletRoots().join(", ")}`;
  };
  if (trouble.kind === "blocked") {
    const { mountFailure, runsSince, container } = trouble;
    const waits = () =>
      kubectlFor(pods, target, "see what it waits for", "logs", ` -c ${shellWord(container)}`);
    const see = kubectlFor(pods, target, SEE_EVENTS, "describe pod");
    return mountFailure.flatMap(onMount).told(runsSince === undefined ? see : waits());
  }
  const fixes: Partial<Record<string, string>> = {
    failed:
      "see what the node lacks, and what its events say: the DaemonSet controller tries again, ever later",
    terminating: "see which container does not end, or which finalizer holds it, and kubelet's log",
  };
  const fix = fixes[trouble.kind] ?? SEE_EVENTS;
  return kubectlFor(pods, target, fix, "describe pod");
}

const leaveOne = (place: Place, { target }: ClusterFacts): Advice =>
  whyIn(place)
    .filter((why) => why === ONE_SET)
    .flatMap(() => twinsIn(place).map(({ twins }) => leaveOnePod(twins, target)))
    .told(LEAVE_ONE);

function leaveOnePod(twins: readonly RegistrarPod[], target: ClusterTarget): Advice {
  const want = "its DaemonSet wants one pod on a node: delete";
  const unready = listFrom(twins)
    .filter(({ isReady }) => isReady.not())
    .together();
  const sole = unready.flatMap(({ first, others }) =>
    ifYes(others.contains().not(), () =>
      kubectl(`${want} the one that is not Ready`, target, "delete pod", first.name),
    ),
  );
  const names = twins.map(({ name }) => name.replace(/^.*\//, ""));
  const [first] = twins;
  const more = names.slice(1).map((name) => ` ${shellWord(name)}`);
  return sole.told(kubectl(`${want} all but one; see`, target, "get pods", first?.name, more.join("")));
}

/** A driver may be registered meanwhile. */
const ready = check<ClusterFacts>("CSI205", "pods-ready", (facts) => {
  const unready = facts.places
    .filter(inState("registered"))
    .flatMap(({ driver, node, pods }) =>
      pods
        .filter(({ isOver }) => !isOver)
        .flatMap((pod) => pod.unready.map((names) => ({ driver, node, pod, names }))),
    )
    .grouped(({ driver, names }) => keyFrom(driver, names));
  return unready.map((group) => {
    const { driver, pod, names } = group.first;
    const text = `has pods that are not Ready for ten minutes or longer, because of ${names}: a roll-out waits for them`;
    const fix = kubectl("see its readiness probe", facts.target, "describe pod", pod.name);
    return also(warning(driver, text, fix), { nodes: group });
  });
});

const NO_POD = ["unscheduled", "blocked", "failed", "terminating"] as const;

export const stateChecks = [
  registered,
  placeCheck("CSI201", "registrar-pods", isRestarting(true), RESTARTING, adviceOn),
  placeCheck("CSI202", "pods-start", inState(...NO_POD), NOT_RUNNING, seePod),
  driverPods,
  placeCheck("CSI206", "duplicates", inState("duplicate"), "has several registrars: ", leaveOne),
  ready,
];
