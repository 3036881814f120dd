import { boundText } from "../../logging/escape";
import { list, numberOrNone, type Tree, text, textOrNone, timeOrNone, tree } from "../rules/objects";
import type { PodTrouble, RegistrarPod, RegistrarSet, Restarts } from "./facts";

/** So many restarts, the last of them so short ago, are no accident any more. */
const MANY_RESTARTS = 3;
const SHORT_AGO_MS = 10 * 60_000;
/** A pod has so long for its images and volumes, from the last that happened to it: its creation, or a reboot. */
const CREATION_MS = 2 * 60_000;
/** While these are the reason, a container is on its way. */
const ON_ITS_WAY = ["ContainerCreating", "PodInitializing"];

/** What a pod comes to; undefined for one that is not of this DaemonSet, or is going. */
export function readRegistrarPod(
  object: unknown,
  { uid, registrars }: RegistrarSet,
  nowMs: number,
): RegistrarPod | undefined {
  const { metadata, spec, status } = tree(object);
  const { name, namespace, ownerReferences, deletionTimestamp } = tree(metadata);
  if (!list(ownerReferences).some((owner) => tree(owner).uid === uid)) return undefined;
  if (deletionTimestamp !== undefined) return undefined;
  const names = new Set(registrars.map(({ container }) => container));
  const changedMs = lastChangeOf(tree(metadata), tree(status)) ?? nowMs;
  return {
    setUid: uid,
    name: `${text(namespace)}/${text(name)}`,
    node: textOrNone(tree(spec).nodeName) ?? intendedNode(tree(spec)),
    trouble: troubleIn(tree(status), names, nowMs, nowMs - changedMs),
    startedMs: startOf(tree(status), names),
  };
}

/** The DaemonSet controller makes a pod for one node, and leaves it to the scheduler to put it there. */
function intendedNode({ affinity }: Tree): string | undefined {
  const required = tree(tree(tree(affinity).nodeAffinity).requiredDuringSchedulingIgnoredDuringExecution);
  const fields = list(required.nodeSelectorTerms).flatMap((term) => list(tree(term).matchFields).map(tree));
  return textOrNone(list(fields.find(({ key }) => key === "metadata.name")?.values)[0]);
}

function troubleIn(
  status: Tree,
  registrars: ReadonlySet<string>,
  nowMs: number,
  quietMs: number,
): PodTrouble | undefined {
  const scheduled = list(status.conditions)
    .map(tree)
    .find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False")
    return { kind: "unscheduled", message: boundText(text(scheduled.message)) };
  const containers = statusesIn(status);
  const [registrar = ""] = registrars;
  if (containers.length === 0 && quietMs >= CREATION_MS)
    return {
      kind: "blocked",
      container: registrar,
      reason: "",
      message: "kubelet does not report its state",
    };
  const blocked = containers.map((one) => blockOf(one, quietMs)).find((one) => one !== undefined);
  if (blocked !== undefined) return blocked;
  const restarting = containers.flatMap((one) => restartsOf(one, registrars, nowMs) ?? []);
  // A driver that ends takes its registrar with it; a registrar that kubelet refused says so by itself.
  const worst =
    restarting.find(({ isRegistrar, message }) => isRegistrar && message !== "") ??
    restarting.find(({ isRegistrar }) => !isRegistrar) ??
    restarting[0];
  return worst && { kind: "restarting", ...worst };
}

/** When the pod was made, a condition of it changed, or a container ended: after a reboot its containers did. */
function lastChangeOf({ creationTimestamp }: Tree, status: Tree): number | undefined {
  const times = [
    creationTimestamp,
    ...list(status.conditions).map((condition) => tree(condition).lastTransitionTime),
    ...statusesIn(status).map(({ lastState }) => tree(tree(lastState).terminated).finishedAt),
  ].flatMap((time) => timeOrNone(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function statusesIn(status: Tree): readonly Tree[] {
  return [...list(status.initContainerStatuses), ...list(status.containerStatuses)].map(tree);
}

function blockOf({ name, state }: Tree, quietMs: number): PodTrouble | undefined {
  const { waiting } = tree(state);
  const reason = text(tree(waiting).reason);
  if (waiting === undefined || reason === "CrashLoopBackOff") return undefined;
  if (ON_ITS_WAY.includes(reason) && quietMs < CREATION_MS) return undefined;
  return { kind: "blocked", container: text(name), reason, message: boundText(text(tree(waiting).message)) };
}

function restartsOf(
  { name, state, lastState, restartCount }: Tree,
  registrars: ReadonlySet<string>,
  nowMs: number,
): Restarts | undefined {
  const { waiting, running, terminated } = tree(state);
  const last = tree(terminated ?? tree(lastState).terminated);
  const times = numberOrNone(restartCount) ?? 0;
  const isOver = terminated !== undefined && numberOrNone(tree(terminated).exitCode) !== 0;
  const endedMs = timeOrNone(last.finishedAt);
  const isRecent = endedMs !== undefined && nowMs - endedMs < SHORT_AGO_MS;
  const isFlapping = running !== undefined && times >= MANY_RESTARTS && isRecent;
  if (tree(waiting).reason !== "CrashLoopBackOff" && !isOver && !isFlapping) return undefined;
  return {
    container: text(name),
    isRegistrar: registrars.has(text(name)),
    times,
    reason: text(last.reason),
    exitCode: numberOrNone(last.exitCode),
    message: boundText(text(last.message).trim()),
  };
}

function startOf(status: Tree, registrars: ReadonlySet<string>): number | undefined {
  const starts = statusesIn(status)
    .filter(({ name }) => registrars.has(text(name)))
    .map(({ state }) => timeOrNone(tree(tree(state).running).startedAt));
  const known = starts.flatMap((start) => start ?? []);
  return known.length === 0 || known.length < starts.length ? undefined : Math.max(...known);
}
