import { attempt, refuse } from "../../../../base/errors";
import { list, needed, type Tree, text, textOrNone, timeOrNone, tree } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import { requiredNodeTerms } from "../../../recognise/nodes";
import { itemsOf, open, tell } from "../../findings/opened";
import { beyond, type Gap, listFrom, type SeenList, truth, type Unread } from "../../findings/seen";
import { ofContainer, together } from "../../findings/words";
import { type ContainerStatus, readContainer } from "./container-status";
import { type Container, endingContainer, type Registrars } from "./ending";
import { conditionsOf, hasEnded, notWritten, ownersOf, phaseOf } from "./fields";
import type { Identity } from "./reader";
import type { ReadRunning, RegistrarSet } from "./set";

/** A container that runs has a fault if it restarted so often, the last time so recently. */
const MANY_RESTARTS = 3;
const SHORT_AGO_MS = 10 * 60_000;
/** What has lasted so long does not pass by itself: two pods where there should be one, or one that is not ready. */
export const LONG_MS = 10 * 60_000;
/** The time for images and volumes, from a pod's creation or a reboot of its node; what lasts longer is no ordinary event. */
const CREATION_MS = 2 * 60_000;
const TOGETHER_MS = 60_000;

/** Created so recently that what it needs may still be on its way. */
export const isYoung = ({ createdMs }: { readonly createdMs: number }, nowMs: number): boolean =>
  nowMs - createdMs < CREATION_MS;

/** Why a pod does not work. Words and messages are the API's. */
export type PodTrouble =
  /** The scheduler finds no node. */
  | { readonly kind: "unscheduled"; readonly message: string }
  /** A container does not start; or an init container runs since then, and the others wait for it. */
  | {
      readonly kind: "blocked";
      readonly container: string;
      /** The same for people: `sidecar x`. */
      readonly who: string;
      readonly word: string;
      readonly message: string;
      readonly runsSince?: string;
      /** What kubelet says of its volumes. */
      readonly mountFailure: SeenList<string>;
    }
  /** It ends again and again. */
  | { readonly kind: "restarting"; readonly container: Container }
  | { readonly kind: "failed"; readonly word: string; readonly message: string }
  /** It should be gone since then. */
  | { readonly kind: "terminating"; readonly since: string };

export type RegistrarPod = NonNullable<ReturnType<typeof readRegistrarPod>>;

export const isPodOf = (object: unknown, set: RegistrarSet): boolean =>
  ownersOf(tree(tree(object).metadata)).some(({ uid }) => uid === set.uid);

export type PodCount = ReturnType<typeof createPodCount>;

/** Counts the nodes that have a pod, as the DaemonSet controller does. */
export function createPodCount(nowMs: () => number) {
  const nodes = new Set<string>();
  let isChanging = false;
  return {
    add: (object: unknown, { uid, createdMs }: Identity) => {
      const { metadata, spec } = tree(object);
      nodes.add(nodesOf(tree(spec)).meantFor ?? uid);
      isChanging ||= tree(metadata).deletionTimestamp !== undefined || nowMs() - createdMs < CREATION_MS;
    },
    nodes: () => nodes.size,
    /** Whether a pod has just come, or goes: another one may be between the two. */
    isChanging: () => isChanging,
  };
}

/** Undefined for a pod that has ended well. */
export function readRegistrarPod(
  object: unknown,
  { uid, name, createdMs, sentMs }: Identity,
  set: RegistrarSet,
  nowMs: number,
  readRunning: ReadRunning,
) {
  const { uid: setUid, registrars } = set;
  const { metadata, spec, status } = tree(object);
  const { initContainerStatuses, containerStatuses } = tree(status);
  const ofInits = list(tree(spec).initContainers).map(tree);
  const sidecars = ofInits.flatMap(({ name, restartPolicy }) =>
    text(restartPolicy) === "Always" ? text(name) : [],
  );
  const readEach = (statuses: unknown) => list(statuses).map((one) => readContainer(tree(one), sentMs));
  const inits = readEach(initContainerStatuses).map((one) => {
    const kind = sidecars.includes(one.name) ? "sidecar" : "init container";
    return { ...one, who: `${kind} ${one.name}` };
  });
  const mains = readEach(containerStatuses);
  const containers = [...inits, ...mains];
  refuseMissing(tree(object), containers, sidecars);
  const { nodeName } = tree(spec);
  if (phaseOf(status) === "Running" || containers.length > 0) needed("spec.nodeName", textOrNone(nodeName));
  const times = timesOf(tree(object), { createdMs, sentMs }, containers, nowMs);
  if (phaseOf(status) === "Succeeded" && !times.isLeaving) return undefined;
  const running = readRunning(tree(object), set);
  // A pod of an older template may have its registrar under another name.
  const names = [...registrars, ...itemsOf(running.registrars)].map(({ about }) =>
    tell<string>(about.container),
  );
  const isRegistrars = ({ name }: ContainerStatus) => names.includes(name);
  const [other] = open(running.registrars).gaps;
  const waitedFor = containers.filter((one) => isRegistrars(one) || itemsOf(running.dropped).length > 0);
  const isWaitedFor = ({ name, hasStarted }: ContainerStatus) =>
    sidecars.includes(name) ? !hasStarted : true;
  const unwritten = (text: string) => notWritten("pods", name, text);
  const unreported = unreportedIn(containers, unwritten);
  const over = overTrouble(tree(metadata), tree(status));
  const others = () =>
    unscheduled(tree(spec), tree(status)) ??
    troubleIn(containers, mains, times, { names, other, unreported }) ??
    initTrouble(inits.filter(isWaitedFor), mains, times);
  const trouble = over ?? (times.isNew ? unwritten("it has only just started") : others());
  return {
    ...{ setUid, uid, name },
    /** It was deleted, has failed or has succeeded a moment ago: another pod will take its place. */
    isLeaving: times.isLeaving,
    ...nodesOf(tree(spec)),
    /** Another pod would take its place. */
    isOver: over !== undefined,
    /** Not known of a new one. */
    trouble: listFrom<PodTrouble>(trouble?.kind === "unread" ? trouble : [trouble ?? []].flat()),
    running,
    /** When its last registrar's container started, in Unix time; none unless all of them run. */
    started: listFrom<number>(unreported ?? lastStart(waitedFor, createdMs, other)),
    /** As kubelet says. */
    isReady: truth(times.saysReady ? times.isReady : unwritten("it has no condition Ready").gap),
    /** Whether nothing has changed in it for ten minutes: unknown where a condition does not say when it changed. */
    isQuiet: isQuietIn(times, name, containers.length > 0 ? unreported : undefined),
    /** The names of the containers that run, and that kubelet has long not called ready, as one text. */
    unready: listFrom<string>(unreported ?? unreadyIn(mains, name, times)),
  };
}

/** One that kubelet does not report may have changed, unless the pod is new. */
function isQuietIn(
  { nowMs, lastMs, areTold, isNew }: ReturnType<typeof timesOf>,
  pod: string,
  unreported?: Unread,
) {
  if (unreported !== undefined && !isNew) return truth(unreported.gap);
  return truth(nowMs - lastMs >= LONG_MS && (areTold || beyond("pods", pod)));
}

/** Kubelet writes a status of each container at once. Of a pod that runs, other init containers have ended. */
function refuseMissing(
  { spec, status }: Tree,
  containers: readonly ContainerStatus[],
  sidecars: readonly string[],
) {
  const namesIn = (all: unknown) => list(all).map((one) => text(tree(one).name));
  const { containers: mains, initContainers } = tree(spec);
  const isRunning = phaseOf(status) === "Running";
  if (!isRunning && (containers.length === 0 || hasEnded(status))) return;
  const missing = [...namesIn(mains), ...(isRunning ? sidecars : namesIn(initContainers))].find(
    (name) => !containers.some((one) => one.name === name),
  );
  if (missing !== undefined) refuse(`it has no status of container ${missing}`);
}

function unreportedIn(containers: readonly ContainerStatus[], unwritten: (text: string) => Unread) {
  if (containers.length === 0) return unwritten("kubelet does not report its containers");
  const silent = containers.find(({ waiting }) => waiting === "");
  return silent && unwritten(`kubelet does not report the state of ${silent.who}`);
}

function lastStart(
  containers: readonly ContainerStatus[],
  createdMs: number,
  other: Gap | undefined,
): readonly number[] | Unread {
  if (other !== undefined) return { kind: "unread", gap: other };
  // No container starts before its pod is there: then the clock of the node is late.
  const startedMs = Math.max(...containers.map((one) => Math.max(one.startedMs, createdMs)));
  return [startedMs].filter(Number.isFinite);
}

function unreadyIn(
  mains: readonly ContainerStatus[],
  pod: string,
  { nowMs, readyMs, createdMs }: ReturnType<typeof timesOf>,
): readonly string[] | Unread {
  const unready = mains.filter(({ isReady, startedMs }) => !isReady && !Number.isNaN(startedMs));
  if (unready.length === 0 || nowMs - (readyMs ?? createdMs) < LONG_MS) return [];
  if (readyMs === undefined) return { kind: "unread", gap: beyond("pods", pod) };
  return [together(unready.map(({ name }) => name))];
}

function nodesOf(spec: Tree) {
  // The DaemonSet controller writes the node into the affinity of a pod; the scheduler assigns it.
  const fields = requiredNodeTerms(spec).flatMap(({ matchFields }) => list(matchFields).map(tree));
  const intended = fields.find(({ key }) => text(key) === "metadata.name");
  const runsOn = textOrNone(spec.nodeName);
  return {
    /** The node that the scheduler gave it. */
    runsOn,
    /** The same, or the one that its controller made it for, which may have no room for it; undefined if unknown. */
    meantFor: runsOn ?? textOrNone(list(intended?.values)[0]),
  };
}

/** Of a pod that cannot be read, or is another's. */
export const knownOfPod = (object: unknown, { uid }: RegistrarSet) => ({
  set: uid,
  node: attempt(() => nodesOf(tree(tree(object).spec)).meantFor),
});

/** Of a pod that failed or was deleted. The DaemonSet controller makes another one when it is gone. */
function overTrouble(
  { deletionTimestamp: since }: Tree,
  { reason, message, ...status }: Tree,
): PodTrouble | undefined {
  if (since !== undefined) return { kind: "terminating", since: text(since) };
  if (phaseOf(status) !== "Failed") return undefined;
  return { kind: "failed", word: text(reason), message: boundText(text(message).trim()) };
}

/** A pod starts when its init containers have ended, and its sidecars have started. */
function initTrouble(
  inits: readonly ContainerStatus[],
  mains: readonly ContainerStatus[],
  { quietMs }: ReturnType<typeof timesOf>,
): PodTrouble | undefined {
  const waits = mains.find(({ waiting }) => waiting === "PodInitializing");
  if (waits === undefined || quietMs < CREATION_MS) return undefined;
  const running = inits.find(({ startedMs }) => !Number.isNaN(startedMs));
  if (running === undefined) return blocked(waits, "PodInitializing");
  return { ...blocked(running, "running"), runsSince: new Date(running.startedMs).toISOString() };
}

/** A pod that waits for its volumes tells nothing itself: kubelet writes an event. */
export function withMountFailure(pod: RegistrarPod, mountFailure: SeenList<string>): RegistrarPod {
  const [trouble] = itemsOf(pod.trouble);
  return trouble?.kind === "blocked" ? { ...pod, trouble: listFrom([{ ...trouble, mountFailure }]) } : pod;
}

function timesOf(
  { metadata, status }: Tree,
  { createdMs, sentMs }: Pick<Identity, "createdMs" | "sentMs">,
  containers: readonly ContainerStatus[],
  nowMs: number,
) {
  const { deletionTimestamp } = tree(metadata);
  const conditions = conditionsOf(status, sentMs);
  const conditionOf = (wanted: string) => conditions.find(({ type }) => type === wanted);
  const sandboxMs = conditionOf("PodReadyToStartContainers")?.changedMs ?? 0;
  // A reboot of the node ends its containers.
  const changes = conditions.map(({ changedMs = 0 }) => changedMs);
  const changedMs = Math.max(...changes, ...containers.map(({ endedMs = 0 }) => endedMs), 0);
  const starts = containers.map(({ startedMs }) => startedMs || 0);
  const ready = conditionOf("Ready");
  const isReady = ready?.status === "True";
  return {
    ...{ nowMs, createdMs, isReady, saysReady: ready !== undefined },
    /** When it was Ready for the last time, if its condition says so. */
    readyMs: isReady ? nowMs : ready?.changedMs,
    /** It was created, or its node made it anew, a moment ago. */
    isNew: nowMs - Math.max(createdMs, sandboxMs) < CREATION_MS,
    quietMs: nowMs - Math.max(createdMs, changedMs),
    lastMs: Math.max(createdMs, changedMs, ...starts),
    areTold:
      conditions.length > 0 &&
      conditions.every(({ changedMs }) => changedMs !== undefined) &&
      containers.every(({ endedMs, restarts }) => endedMs !== undefined || restarts === 0),
    isLeaving:
      (hasEnded(status) || deletionTimestamp !== undefined) &&
      nowMs - (timeOrNone(deletionTimestamp) ?? Math.max(changedMs, createdMs)) < CREATION_MS,
  };
}

/** A reboot ends all containers of a pod together, and says nothing about them. */
function endedWithNode(containers: readonly ContainerStatus[]): boolean {
  const [first] = containers;
  return (
    first !== undefined &&
    containers.every(
      ({ endReason, exitCode, endedMs = 0, waiting }) =>
        waiting !== "CrashLoopBackOff" &&
        Math.abs(endedMs - (first.endedMs ?? 0)) < TOGETHER_MS &&
        (/^(?:Unknown|ContainerStatusUnknown)$/.test(endReason) ||
          (exitCode === 255 && containers.length > 1)),
    )
  );
}

/** It has no node, whether the scheduler says why or not. */
function unscheduled(spec: Tree, ofPod: Tree): PodTrouble | undefined {
  const found = conditionsOf(ofPod).find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (found === undefined && nodesOf(spec).runsOn !== undefined) return undefined;
  return { kind: "unscheduled", message: boundText(found?.message ?? "") };
}

function troubleIn(
  containers: readonly ContainerStatus[],
  mains: readonly ContainerStatus[],
  { nowMs, quietMs }: ReturnType<typeof timesOf>,
  { unreported, ...registrars }: Registrars & { readonly unreported: Unread | undefined },
): PodTrouble | Unread | undefined {
  const [name = ""] = registrars.names;
  if (containers.length === 0 && quietMs >= CREATION_MS) return blocked({ name, who: ofContainer(name) }, "");
  const first = containers.find((one) => one.waiting === "" || blockOf(one, quietMs) !== undefined);
  if (first?.waiting === "") return unreported;
  const block = first && blockOf(first, quietMs);
  if (block !== undefined) return block;
  if (endedWithNode(mains)) return undefined;
  const restarting = containers.filter((one) => isRestarting(one, nowMs));
  const isRegistrar = ({ name }: ContainerStatus) => registrars.names.includes(name);
  // A driver that ends takes its registrar with it; a registrar that kubelet refused says so by itself.
  const container =
    restarting.find((one) => isRegistrar(one) && one.message !== "") ??
    restarting.find((one) => !isRegistrar(one)) ??
    restarting[0];
  return container && { kind: "restarting", container: endingContainer(container, registrars) };
}

const blocked = ({ name, who }: Pick<ContainerStatus, "name" | "who">, word: string, message = "") =>
  ({ kind: "blocked", container: name, who, word, message, mountFailure: listFrom<string>([]) }) as const;

function blockOf(container: ContainerStatus, quietMs: number): PodTrouble | undefined {
  const { waiting, waitingMessage } = container;
  if (waiting === undefined || ["CrashLoopBackOff", "PodInitializing"].includes(waiting)) return undefined;
  if (waiting === "ContainerCreating" && quietMs < CREATION_MS) return undefined;
  return blocked(container, waiting, waitingMessage);
}

function isRestarting(container: ContainerStatus, nowMs: number): boolean {
  const { name, waiting, startedMs, hasEnded, endedMs, exitCode, restarts } = container;
  if (waiting === "CrashLoopBackOff") return true;
  if (hasEnded) return (exitCode ?? 0) !== 0;
  if (Number.isNaN(startedMs) || restarts < MANY_RESTARTS) return false;
  // It ended before it started anew.
  if (nowMs - (endedMs ?? startedMs) >= SHORT_AGO_MS) return false;
  needed(`end of container ${name}, which restarted`, endedMs);
  return true;
}
