import { bool, needed, numberOrNone, type Tree, text, tree } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import { ofContainer } from "../../findings/words";
import { pastOrNone } from "./fields";

export type ContainerStatus = ReturnType<typeof readContainer>;

/** What kubelet says of a container of a pod. */
export function readContainer(
  { name, state, lastState, restartCount, ready, started }: Tree,
  sentMs: number,
) {
  const own = <Value>(field: string, value: Value | undefined) => needed(`${field} of a container`, value);
  const { waiting, running, terminated } = tree(state);
  const ended = terminated ?? tree(lastState).terminated;
  const last = tree(ended);
  return {
    name: text(name),
    who: ofContainer(text(name)),
    isReady: bool(ready),
    hasStarted: bool(started),
    /** A state without any of the three is this one (ContainerState of the API). */
    waiting: running === undefined && terminated === undefined ? text(tree(waiting).reason) : undefined,
    waitingMessage: boundText(text(tree(waiting).message).trim()),
    /** NaN: it does not run. */
    startedMs: running === undefined ? Number.NaN : own("start", pastOrNone(tree(running).startedAt, sentMs)),
    restarts: own("restartCount", numberOrNone(restartCount)),
    hasEnded: terminated !== undefined,
    /** When and how it ended the last time, and its termination message. */
    endedMs: pastOrNone(last.finishedAt, sentMs),
    exitCode: ended === undefined ? undefined : own("exitCode", numberOrNone(last.exitCode)),
    endReason: text(last.reason),
    message: boundText(text(last.message).trim()),
  };
}
