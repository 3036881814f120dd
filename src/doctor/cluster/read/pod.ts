import { list, numberOrNone, type Tree, text, textOrNone, timeOrNone, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { requiredNodeTerms } from "../../manifest/read/node-rules";
import { nameOf } from "../../manifest/read/objects";
import type { ReadRunning, RegistrarSet } from "./set";

/** A container that runs has a fault if it restarted so often, the last time so recently. */
const MANY_RESTARTS = 3;
const SHORT_AGO_MS = 10 * 60_000;
/** The time for images and volumes, from a pod's creation or a reboot of its node. */
const CREATION_MS = 2 * 60_000;
/** Reasons to wait that are normal during that time. */
const ON_ITS_WAY = ["ContainerCreating", "PodInitializing"];

/** Why a pod does not work: the scheduler finds no node, a container cannot start, or it ends again and again. */
export interface PodTrouble {
  readonly kind: "unscheduled" | "blocked" | "restarting";
  readonly reason: string;
  /** What the scheduler, kubelet or the container said, which is alike for one cause. */
  readonly said: string;
  /** Of `restarting`: how the container ended the last time. */
  readonly restarts?: {
    readonly container: string;
    readonly isRegistrar: boolean;
    /** `Error`, `OOMKilled`; empty if unknown. */
    readonly reason: string;
    readonly exitCode: number | undefined;
    /** The termination message; empty: the container left none. */
    readonly message: string;
  };
}

export type RegistrarPod = NonNullable<ReturnType<typeof readRegistrarPod>>;

/** Undefined for a pod of another owner, and for one that is being deleted. */
export function readRegistrarPod(
  object: unknown,
  set: RegistrarSet,
  nowMs: number,
  readRunning: ReadRunning,
) {
  const { uid, registrars } = set;
  const { metadata, spec, status } = tree(object);
  const { ownerReferences, deletionTimestamp, creationTimestamp } = tree(metadata);
  if (!list(ownerReferences).some((owner) => tree(owner).uid === uid)) return undefined;
  if (deletionTimestamp !== undefined) return undefined;
  const { initContainerStatuses, containerStatuses } = tree(status);
  const names = registrars.map(({ container }) => container);
  const containers = [...list(initContainerStatuses), ...list(containerStatuses)].map((one) =>
    readContainer(tree(one), names),
  );
  const conditions = list(tree(status).conditions).map(tree);
  const changes = [
    ...conditions.map(({ lastTransitionTime }) => lastTransitionTime),
    // A reboot of the node ends its containers.
    ...containers.map(({ last }) => last.finishedAt),
  ].flatMap((time) => timeOrNone(time) ?? []);
  const quietMs = nowMs - Math.max(timeOrNone(creationTimestamp) ?? nowMs, ...changes);
  const running = readRunning(tree(object), set);
  const isWaitedFor = ({ isRegistrar }: Container) => isRegistrar || running.dropped.length > 0;
  const starts = containers.filter(isWaitedFor).map(({ startedMs }) => startedMs);
  const startedMs = Math.max(...starts);
  const unreported =
    containers.length === 0 && quietMs >= CREATION_MS
      ? blocked(names[0] ?? "", "kubelet does not report its state")
      : undefined;
  return {
    setUid: uid,
    name: nameOf(object),
    /** Its node, or the one that it is meant for; undefined if unknown. */
    node: textOrNone(tree(spec).nodeName) ?? intendedNode(tree(spec)),
    trouble: unscheduled(conditions) ?? unreported ?? troubleIn(containers, nowMs, quietMs),
    running,
    /** In Unix time. */
    createdMs: timeOrNone(creationTimestamp) ?? nowMs,
    /** When its last registrar's container started, in Unix time; undefined unless all of them run. */
    startedMs: Number.isFinite(startedMs) ? startedMs : undefined,
  };
}

/** The DaemonSet controller writes the node into the affinity of a pod; the scheduler assigns it. */
function intendedNode(pod: Tree): string | undefined {
  const fields = requiredNodeTerms(pod).flatMap(({ matchFields }) => list(matchFields).map(tree));
  return textOrNone(list(fields.find(({ key }) => key === "metadata.name")?.values)[0]);
}

type Container = ReturnType<typeof readContainer>;

function readContainer({ name, state, lastState, restartCount }: Tree, registrars: readonly string[]) {
  const { waiting, running, terminated } = tree(state);
  return {
    name: text(name),
    isRegistrar: registrars.includes(text(name)),
    waiting: waiting === undefined ? undefined : tree(waiting),
    /** NaN: it does not run. */
    startedMs: timeOrNone(tree(running).startedAt) ?? Number.NaN,
    hasEnded: terminated !== undefined,
    last: tree(terminated ?? tree(lastState).terminated),
    restarts: numberOrNone(restartCount) ?? 0,
  };
}

function unscheduled(conditions: readonly Tree[]): PodTrouble | undefined {
  const { status, message } = conditions.find(({ type }) => type === "PodScheduled") ?? {};
  return status === "False"
    ? {
        kind: "unscheduled",
        reason: `its pod finds no node: ${boundText(text(message))}`,
        said: boundText(text(message)),
      }
    : undefined;
}

function troubleIn(containers: readonly Container[], nowMs: number, quietMs: number): PodTrouble | undefined {
  const block = containers.map((one) => blockOf(one, quietMs)).find((one) => one !== undefined);
  if (block !== undefined) return block;
  const restarting = containers.filter((one) => isRestarting(one, nowMs)).map(restartsOf);
  // A driver that ends takes its registrar with it; a registrar that kubelet refused says so by itself.
  return (
    restarting.find(({ restarts: { isRegistrar, message } }) => isRegistrar && message !== "") ??
    restarting.find(({ restarts }) => !restarts.isRegistrar) ??
    restarting[0]
  );
}

function blocked(container: string, why: string): PodTrouble {
  const reason = `container ${container} does not start: ${why}`;
  return { kind: "blocked", reason, said: `${container} ${why}` };
}

function blockOf({ name, waiting }: Container, quietMs: number): PodTrouble | undefined {
  const reason = text(waiting?.reason);
  if (waiting === undefined || reason === "CrashLoopBackOff") return undefined;
  if (ON_ITS_WAY.includes(reason) && quietMs < CREATION_MS) return undefined;
  return blocked(name, [reason, boundText(text(waiting.message))].filter(Boolean).join(": "));
}

function isRestarting({ waiting, startedMs, hasEnded, last, restarts }: Container, nowMs: number): boolean {
  if (waiting?.reason === "CrashLoopBackOff") return true;
  if (hasEnded) return last.exitCode !== 0;
  const endedMs = timeOrNone(last.finishedAt) ?? 0;
  return !Number.isNaN(startedMs) && restarts >= MANY_RESTARTS && nowMs - endedMs < SHORT_AGO_MS;
}

function restartsOf({ name, isRegistrar, last, restarts: times }: Container) {
  const reason = text(last.reason);
  const exitCode = numberOrNone(last.exitCode);
  const message = boundText(text(last.message).trim());
  const how = [reason === "Error" ? "" : reason, exitCode === undefined ? "" : `exit code ${exitCode}`];
  const ended = how.some(Boolean) ? ` (${how.filter(Boolean).join(", ")})` : "";
  const often = times === 1 ? "has restarted once" : `has restarted ${times} times`;
  const words = `container ${name} ${often}${ended}${message === "" ? "" : `: ${message}`}`;
  const restarts = { container: name, isRegistrar, reason, exitCode, message };
  const said = `${name} ${message || `${reason} ${exitCode}`}`;
  return { kind: "restarting", reason: words, said, restarts } as const;
}
