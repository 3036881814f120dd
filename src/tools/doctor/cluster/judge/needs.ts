import { manifestReadable, sayGap } from "../../files/judge/gaps";
import {
  type Advice,
  also,
  check,
  problem,
  unknown,
  type Verdict,
  type Verdicts,
  warning,
} from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import { asFarAsAsked, atLeast } from "../../findings/least";
import type { Words } from "../../findings/opened";
import {
  type Gap,
  type Group,
  ifUnknown,
  ifYes,
  isWhole,
  lacking,
  nothing,
  otherwise,
  type SeenList,
  type Text,
  type Truth,
  toldOf,
  words,
} from "../../findings/seen";
import { counted, firstOf, namedText, shellWord, together } from "../../findings/words";
import type { ClusterTarget } from "../read/cluster";
import type { HostPod } from "../read/owners";
import { isYoung } from "../read/pod";
import { GROUPS, LOG_IN } from "../read/reader";
import { driverNamed, guessesIn, isEvery, isGuess, isOneDriver, type RegistrarUnit } from "../read/units";
import { type ClusterFacts, type FactsAndGaps, mayHavePod } from "./facts";
import { isMissedAway, judgeGroups, kubectl, NODES_AWAY, placesWhere, problemsOf, whoWaits } from "./groups";
import { judgeSets } from "./set-pods";
import { NONE_FITS, WANTS_NONE, wantsNone } from "./set-wants";
import { inState, type Place, SETTLED, whyIn } from "./state";
import { isWaitedFor } from "./states";
import { startupTaints } from "./taints";
import { lackText, ownerText } from "./troubles";

const coverage = check<ClusterFacts>("CSI207", "coverage", (facts) => [
  problemsOf(facts, inState("uncovered"), "is needed, and ", (place) => {
    const see = (fix: string) => kubectl(fix, facts.target, "describe node", place.node);
    return whyIn(place)
      .map((why) =>
        why === WANTS_NONE
          ? seeLabels(facts)
          : see("add the toleration to the DaemonSet, or remove the taint; see"),
      )
      .told(see("compare its DaemonSet with the node's taints, labels and pods"));
  }),
  judgeSets(facts),
]);

const seeLabels = ({ target }: ClusterFacts) =>
  kubectl("correct them, or label the nodes; compare", target, "get nodes", "", " --show-labels");

const INSTALL = "install the driver, or correct its name in the volume or StorageClass";

const providers = check<ClusterFacts>("CSI208", "providers", (facts) => [
  problemsOf(facts, inState("unprovided"), "is needed, and ", adviceFor),
  judgeGroups(
    facts,
    placesWhere(facts, (place) => inState("registered")(place).and(isLeftover(place, facts))),
    ({ driver }, places) => sayLeftover(driver, places, facts),
  ),
  judgeTarget(facts),
]);

/** A pod may serve the driver that is of no DaemonSet with a registrar. */
function adviceFor(
  { driver }: Place,
  { ownersOf, target, places: all }: ClusterFacts,
  places: Group<Place>,
): Advice {
  const look = ({ node }: Place, gaps: readonly Gap[]) => {
    const fix = `${INSTALL}, unless a pod of its node serves it: ${lackText(gaps)}`;
    return toldOf(kubectl(fix, target, "get pods -A", "", ` --field-selector=spec.nodeName=${node}`));
  };
  const owners = asFarAsAsked(places.flatMap((place) => ownersOf(place).owners));
  const elsewhere = all
    .filter((one) => inState("registered")(one).and(isOneDriver(one.driver, driver)))
    .flatMap((place) => ownersOf(place).owners);
  const none = ifYes<Advice>(owners.contains().not(), () => elsewhere.map(adviceElsewhere).told(INSTALL));
  return owners
    .map((pod) => adviceOnOwner(pod, target))
    .with(none)
    .with(
      places.flatMap((place) =>
        ifUnknown(isWhole(asFarAsAsked(ownersOf(place).owners)), (gaps) => look(place, gaps)),
      ),
    )
    .told(INSTALL);
}

function adviceOnOwner(pod: HostPod, target: ClusterTarget): Advice {
  const { name, registrar } = pod;
  const served = `pod ${name} (${ownerText(pod)}) has the driver's directory`;
  const seeLog = (container: string): Advice =>
    kubectl(`${served} and a registrar: see its log`, target, "logs", name, ` -c ${shellWord(container)}`);
  return registrar.map(seeLog).told(`${served}, and no registrar: add one to it, see registrar manifest`);
}

const adviceElsewhere = (pod: HostPod): Advice =>
  `pod ${pod.name} (${ownerText(pod)}) has the driver's directory on another node: run it in a DaemonSet, which has a pod on each`;

/** CSINode lists it, and of all that doctor sees nothing can have registered it there, neither a DaemonSet nor a pod. */
function isLeftover(place: Place, facts: ClusterFacts): Truth {
  const { unitsOfDriver, unitsOfEvery, ownersOf } = facts;
  const [owners, rivals] = [asFarAsAsked(ownersOf(place).owners), asFarAsAsked(ownersOf(place).rivals)];
  const own = unitsOfDriver(place.driver).filter((unit) => mayHavePod(unit, place, facts));
  const providers = [own, unitsOfEvery, owners, rivals];
  return providers.reduce((one, list) => one.or(list.contains()), guessesIn(facts).contains()).not();
}

function sayLeftover(driver: Place["driver"], places: Group<Place>, facts: ClusterFacts): Verdict {
  const waiting = whoWaits(places, facts, "; needed by ");
  const users = places.flatMap((place) => facts.ownersOf(place).users).filter(({ isRunning }) => isRunning);
  const used = users
    .together()
    .map((all) => words`; used by ${all.counted("pod")} (${all.named((pod) => pod.name)})`);
  const where = places.named(({ node = "" }) => node);
  const own = facts.places.filter((one) => isOneDriver(one.driver, driver));
  const elsewhere = own.flatMap((place) =>
    ifUnknown(isWhole(asFarAsAsked(facts.ownersOf(place).owners)), (gaps) =>
      lacking(gaps, `, perhaps on others, too: ${lackText(gaps)}`),
    ),
  );
  const units = facts.unitsOfDriver(driver);
  const idle = units
    .together()
    .map((all): Text => words`DaemonSet ${all.named(({ set }) => set.name)} has no pods (${NONE_FITS})`)
    .orElse(() => "no DaemonSet has a registrar for it");
  const origin = units.map(() => "a pod that it had there").orElse(() => "an uninstall");
  const text = words`is in CSINode, but ${idle}, and no pod on ${where} can have registered it: the entry is probably left of ${origin}, unless a service of the host registers it${elsewhere}${waiting}${used}`;
  const keep = "install the driver again, until nothing needs it";
  const remove =
    "run registrar doctor --host-root=/host on the node, in kubectl debug node: a driver that answers there stays. Else see that no pod's volume, PersistentVolume or StorageClass has it; remove the socket that CSI019 names, then plugins/DRIVER there, and with the last node the CSIDriver object";
  const isNeeded = places.contains((place) => isWaitedFor(place, facts)).or(users.contains());
  const without = atLeast(isNeeded, {
    yes: () => keep,
    least: () => remove,
    unknown: (gaps) =>
      words`${lacking(gaps, lackText(gaps))}: if something needs it, ${keep}; else ${remove}`,
  });
  // It is installed: to remove what is left would remove a driver that comes back.
  return warning(driver, text, units.map((): Advice => seeLabels(facts)).told(without));
}

/** A driver that was asked for and is nowhere. */
function judgeTarget(facts: ClusterFacts): Verdicts {
  const { unitsOfDriver, places, csiNodes, units } = facts;
  const { driver, node } = facts.target;
  if (driver === undefined) return undefined;
  const there = node === undefined ? "" : ` on ${node}`;
  const inWhich = node === undefined ? "is in no CSINode" : `is not in the CSINode of ${node}`;
  const own = asFarAsAsked(units)
    .filter((unit) => isEvery(unit).not())
    .with(asFarAsAsked(unitsOfDriver(driverNamed(driver))));
  const isProvided = own.contains(({ set }) => wantsNone(set, facts.nowMs).not());
  const isThere = asFarAsAsked(csiNodes)
    .contains(({ drivers }) => drivers.has(driver))
    .or(isProvided);
  const described = facts.csiDrivers.filter((name) => name === driver);
  const found = described
    .map((): Text => "; only its CSIDriver object is there")
    .orElse(() => whatElse(driver, facts));
  const idle = own
    .together()
    .map((all): Text => words`DaemonSet ${all.named(({ set }) => set.name)} has no pods: ${NONE_FITS}`)
    .orElse(() => words`no DaemonSet is known to register it${found}`);
  const text = words`${inWhich}, and ${idle}`;
  const fix = own.map((): Advice => seeLabels(facts)).told(howToGet(facts, described));
  const judge = () =>
    isThere.say({
      yes: nothing,
      no: () => problem(driver, text, fix),
      unknown: (gaps) => unknown(driver, `is possibly installed${there}: ${lackText(gaps)}`),
    });
  // What needs it may be unread, and it is nowhere all the same.
  const isNamed = asFarAsAsked(places).contains((one) => isEvery(one).not());
  return isNamed({ yes: nothing, ...otherwise(judge) });
}

/** What doctor found instead. */
function whatElse(driver: string, facts: ClusterFacts): Words {
  const found = facts.driverNames
    .sorted((name) => name)
    .together()
    .map((all) => words`; doctor found ${all.named((name) => name, driver)}`);
  const unnamed = guessesIn(facts)
    .together()
    .map((all) => words`; the name of the driver of ${all.named(({ set }) => set.name)} is not known`);
  return words`${found}${unnamed}`;
}

/** `described`: whether it has a CSIDriver object. */
function howToGet(facts: ClusterFacts, described: SeenList<string>): Advice {
  const { podsOf, target } = facts;
  const install = "install it, or correct --driver";
  const seeName = ({ set, container }: RegistrarUnit) =>
    podsOf(set.uid).map(({ name }): Advice => {
      const fix = `see the name of its driver in the registrar's log; if it is another, ${install}`;
      return kubectl(fix, target, "logs", name, ` -c ${shellWord(container)}`);
    });
  return guessesIn(facts)
    .flatMap(seeName)
    .with(described.map((): Advice => "install its node plugin"))
    .told(install);
}

const csiDrivers = check<ClusterFacts>("CSI209", "csi-drivers", (facts) => {
  // If the name is a guess, so would this be.
  const isNamed = (place: Place) =>
    place.units
      .contains((unit) => !isGuess(unit))
      .or(place.isListed.and(isLeftover(place, facts).not()))
      .and(isEvery(place).not());
  const named = facts.places.filter(isNamed).grouped(({ driver }) => driver);
  const text =
    "has no CSIDriver object: Kubernetes attaches its volumes before it mounts them, and passes the driver no information about the pod";
  const fix = "apply its CSIDriver object: examples/csidriver.yaml explains each field";
  return named.map(({ first: { driver } }) =>
    ifYes(facts.csiDrivers.contains((name) => isOneDriver(driver, driverNamed(name))).not(), () =>
      warning(driver, text, fix),
    ),
  );
});

const waiting = check<ClusterFacts>("CSI211", "waiting", (facts) => {
  const isMissed = (place: Place) =>
    isWaitedFor(place, facts).and(inState(...SETTLED, "node-away")(place).not());
  const fix = "fix what keeps the driver from being registered";
  const missed = judgeGroups(facts, placesWhere(facts, isMissed), ({ driver }, places) =>
    problem(driver, words`${whoWaits(places, facts, "has ")} waiting for it`, fix),
  );
  return [missed, judgeAway(facts)];
});

/** Whether a driver is registered there is only known when kubelet reports again. */
function judgeAway(facts: ClusterFacts): Verdicts {
  const away = placesWhere(facts, isMissedAway);
  return away.together().map((all) => {
    const waiting = whoWaits(all, facts, "; needed by ");
    const text = words`are not ready or gone: it is not known which drivers are registered there${waiting}`;
    const fix = kubectl("see why kubelet does not report", facts.target, "describe node", all.first.node);
    return also(unknown("nodes", text, fix), { cause: NODES_AWAY, nodes: all });
  });
}

/** Kubelet's pkg/volume/csi/nodeinfomanager; kubernetes#120063. */
const csiNodeOwners = check<ClusterFacts>("CSI218", "csi-node-owners", (facts) => {
  const { nodes, csiNodeAt, places, nowMs, target } = facts;
  const placesOn = places.by(({ node = "" }) => node);
  const bad = nodes.filter(({ name, uid, ready, createdMs }) =>
    csiNodeAt(name)
      .contains(({ owners }) => owners.contains((owner) => owner === uid).not())
      .and(
        placesOn(name)
          .contains()
          .or(target.driver === undefined),
      )
      .and(ready === "True" && !isYoung({ createdMs }, nowMs)),
  );
  const text =
    "are owned by Nodes that were deleted and created again: the garbage collector removes them, then no volume can be attached";
  const fix =
    "restart kubelet on these nodes: some releases keep the old Node's UID until then, and write it into each new CSINode";
  return bad
    .sorted(({ name }) => name)
    .together()
    .map((all) => also(problem("CSINodes", text, fix), { nodes: all.map(({ name }) => ({ node: name })) }));
});

/** By the kind of the failure. */
const ADVICE: Readonly<Partial<Record<string, string>>> = {
  unauthorized: LOG_IN,
  hidden:
    "use an account, and an address of the API server, that gives CSINodes; if all were deleted, restart kubelet on each node",
};

/** Lists that failed alike are one finding: an API server that went away fails all. */
export const rights = check<FactsAndGaps>("CSI212", "rights", ({ gaps, nodes, places, target }) => {
  const lists = gaps.flatMap(({ part, subject, why }) =>
    why.kind === "list" ? { part, subject, ...why } : [],
  );
  const alike = grouped(lists, ({ failure, message, part }) =>
    failure === "forbidden" ? failure : `${failure} ${failure === "incomplete" ? part : message}`,
  );
  const seeNodes = kubectl("see whether it is the right cluster", target, "get nodes");
  const none = ifYes(nodes.contains().or(asFarAsAsked(places).contains()).not(), () =>
    unknown("nodes", "do not exist: there is nothing to judge", seeNodes),
  );
  const unread = Array.from(alike.values(), (own) => {
    const [{ failure, message, subject }] = own;
    const resources = [...new Set(own.map(({ part }) => part))];
    const names = together(resources);
    const fix = ADVICE[failure] ?? "run doctor again, or for one node only: --node";
    if (failure === "incomplete") {
      const more = own.length === 1 ? "" : `; the same of ${counted(own.length - 1, "other DaemonSet")}`;
      const how = `run doctor again; else use an account, and an address of the API server, that gives all ${names}; compare with`;
      const see = kubectl(how, target, "describe daemonset", subject);
      return unknown(names, `are not all known: ${message}${more}`, see);
    }
    if (failure !== "forbidden") return unknown(names, `could not be listed: ${message}`, fix);
    // All that doctor reads: a list that is read later may be forbidden, too, and a role is created once.
    const all = Object.entries(GROUPS).map((one) => one.filter(Boolean).join("."));
    const advice = "have a cluster administrator create this ClusterRole, and bind it to you";
    const rule = ` --verb=list --resource=${all.join(",")}`;
    const create = kubectl(advice, target, "create clusterrole", "registrar-doctor", rule);
    return unknown(names, `cannot be listed: ${message}`, create);
  });
  return [none, unread];
});

/** Objects that do not have the form that Kubernetes gives them: of a resource those that lack the same are one finding. */
export const objects = check<FactsAndGaps>(
  manifestReadable.code,
  manifestReadable.name,
  ({ gaps, target }) => {
    const ofObjects = gaps.filter(({ why }) => why.kind !== "list");
    const alike = grouped(ofObjects, ({ part, why }) => JSON.stringify([part, why]));
    return Array.from(alike.values(), (own) => {
      const [{ part, subject, why }] = own;
      const fix = `see ${own.length === 1 ? "the object" : "one of them"}, and correct what wrote it`;
      const which = subject === "" ? " -A -o yaml" : " -o yaml";
      const names = firstOf(own.map((one) => namedText(one.subject)));
      const how = own.length === 1 ? "" : `, all ${own.length.toLocaleString("en")} for one reason`;
      return sayGap(`${part} ${names}`, why, kubectl(fix, target, `get ${part}`, subject, which), how);
    });
  },
);

export const needChecks = [
  coverage,
  providers,
  csiDrivers,
  waiting,
  startupTaints,
  csiNodeOwners,
  rights,
  objects,
];
