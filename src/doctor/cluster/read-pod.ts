import { boundText } from "../../logging/escape";
import { nameOf } from "../manifest/deployment";
import { requiredNodeTerms } from "../manifest/node-rules";
import { list, numberOrNone, type Tree, text, textOrNone, timeOrNone, tree } from "../rules/objects";
import type { PodTrouble, RegistrarPod, RegistrarSet, Restarts } from "./facts";

/** A container that runs has a fault if it restarted so often, the last time so recently. */
const MANY_RESTARTS = 3;
const SHORT_AGO_MS = 10 * 60_000;
/** The time for images and volumes, from a pod's creation or a reboot of its node. */
const CREATION_MS = 2 * 60_000;
/** Reasons to wait that are normal during that time. */
const ON_ITS_WAY = ["ContainerCreating", "PodInitializing"];

/** Undefined for a pod of another owner, and for one that is being deleted. */
export function readRegistrarPod(
  object: unknown,
  { uid, registrars }: RegistrarSet,
  nowMs: number,
): RegistrarPod | undefined {
  const { metadata, spec, status } = tree(object);
  const { ownerReferences, deletionTimestamp } = tree(metadata);
  if (!list(ownerReferences).some((owner) => tree(owner).uid === uid)) return undefined;
  if (deletionTimestamp !== undefined) return undefined;
  const names = new Set(registrars.map(({ container }) => container));
  const changedMs = lastChangeOf(tree(metadata), tree(status)) ?? nowMs;
  return {
    setUid: uid,
    name: nameOf(object),
    node: textOrNone(tree(spec).nodeName) ?? intendedNode(tree(spec)),
    trouble: troubleIn(tree(status), names, nowMs, nowMs - changedMs),
    startedMs: startOf(tree(status), names),
  };
}

/** The DaemonSet controller writes the node into the affinity of a pod; the scheduler assigns it. */
function intendedNode(pod: Tree): string | undefined {
  const fields = requiredNodeTerms(pod).flatMap(({ matchFields }) => list(matchFields).map(tree));
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
    return { kind: "unscheduled", reason: `its pod finds no node: ${boundText(text(scheduled.message))}` };
  const containers = statusesIn(status);
  const [registrar = ""] = registrars;
  if (containers.length === 0 && quietMs >= CREATION_MS)
    return blocked(registrar, "kubelet does not report its state");
  const block = containers.map((one) => blockOf(one, quietMs)).find((one) => one !== undefined);
  if (block !== undefined) return block;
  const restarting = containers.flatMap((one) => restartsOf(one, registrars, nowMs) ?? []);
  // A driver that ends takes its registrar with it; a registrar that kubelet refused says so by itself.
  return (
    restarting.find(({ restarts: { isRegistrar, message } }) => isRegistrar && message !== "") ??
    restarting.find(({ restarts }) => !restarts.isRegistrar) ??
    restarting[0]
  );
}

/** The last time of the pod's creation, a change of a condition, or the end of a container, as in a reboot. */
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

function blocked(container: string, why: string): PodTrouble {
  return { kind: "blocked", reason: `container ${container} does not start: ${why}` };
}

function blockOf({ name, state }: Tree, quietMs: number): PodTrouble | undefined {
  const { waiting } = tree(state);
  const { reason, message } = tree(waiting);
  if (waiting === undefined || reason === "CrashLoopBackOff") return undefined;
  if (ON_ITS_WAY.includes(text(reason)) && quietMs < CREATION_MS) return undefined;
  return blocked(text(name), [text(reason), boundText(text(message))].filter(Boolean).join(": "));
}

function restartsOf(
  { name, state, lastState, restartCount }: Tree,
  registrars: ReadonlySet<string>,
  nowMs: number,
): (PodTrouble & Required<Pick<PodTrouble, "restarts">>) | undefined {
  const { waiting, running, terminated } = tree(state);
  const last = tree(terminated ?? tree(lastState).terminated);
  const times = numberOrNone(restartCount) ?? 0;
  const isOver = terminated !== undefined && last.exitCode !== 0;
  const endedMs = timeOrNone(last.finishedAt);
  const isRecent = endedMs !== undefined && nowMs - endedMs < SHORT_AGO_MS;
  const isFlapping = running !== undefined && times >= MANY_RESTARTS && isRecent;
  if (tree(waiting).reason !== "CrashLoopBackOff" && !isOver && !isFlapping) return undefined;
  const restarts: Restarts = {
    container: text(name),
    isRegistrar: registrars.has(text(name)),
    reason: text(last.reason),
    exitCode: numberOrNone(last.exitCode),
    message: boundText(text(last.message).trim()),
  };
  return { kind: "restarting", reason: restartsText(restarts, times), restarts };
}

function restartsText({ container, reason, exitCode, message }: Restarts, times: number): string {
  const how = [
    reason === "Error" ? "" : reason,
    exitCode === undefined ? "" : `exit code ${exitCode}`,
  ].filter(Boolean);
  const ended = how.length === 0 ? "" : ` (${how.join(", ")})`;
  const often = times === 1 ? "has restarted once" : `has restarted ${times} times`;
  return `container ${container} ${often}${ended}${message === "" ? "" : `: ${message}`}`;
}

function startOf(status: Tree, registrars: ReadonlySet<string>): number | undefined {
  const starts = statusesIn(status)
    .filter(({ name }) => registrars.has(text(name)))
    .map(({ state }) => timeOrNone(tree(tree(state).running).startedAt));
  const known = starts.flatMap((start) => start ?? []);
  return known.length === 0 || known.length < starts.length ? undefined : Math.max(...known);
}
