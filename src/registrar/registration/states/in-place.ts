import { pause } from "../../../base/pause";
import { watchPath } from "../../../unix/path-watch";
import type { InPlaceState, LoopEvent, StateOf } from "../../model/state";
import { type RegistrationContext, socketPathOf } from "../context";
import { isKubeletBusy, judgeInPlace, KUBELET_BUSY_MS, statusLostAfterMs } from "../decisions";

/** Kubelet can become idle without an event. */
const LOOK_WHILE_ASKED_MS = 5_000;

/**
 * While our socket is in place, in any state: ends when it is gone, dead or taken by another registrar, or when the driver
 * came back and kubelet should register it anew.
 *
 * To publish again costs a deregistration and a registration at kubelet, so nothing is done while kubelet is between
 * GetInfo and its registration status (NodeGetInfo may hang for minutes, kubernetes#138170). That status makes another
 * state, in which we look again.
 */
export async function watchOurSocket(
  state: InPlaceState,
  { options, socket, server, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const socketPath = socketPathOf(state.facts, options);
  using watch = await watchPath(socketPath, log.named("in-place"));
  for (;;) {
    const found = await socket.look(socketPath, signal);
    const hasDirectory = found === "ours" || (await socket.hasDirectory());
    if (signal.aborted) return undefined;
    const isBusy = isKubeletBusy(state, performance.now(), server.hasCaller);
    const event = judgeInPlace(state, found, { isKubeletBusy: isBusy, hasDirectory });
    if (event) return event;
    await watch.wait(signal, state.askedAtMs === undefined ? undefined : LOOK_WHILE_ASKED_MS);
    if (signal.aborted) return undefined;
  }
}

/** State `asked`: ends when kubelet's connection is gone and no registration status came. */
export async function noticeLostStatus(
  { facts }: StateOf<"asked">,
  { log, server }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  while (await pause(statusLostAfterMs(facts), signal)) {
    if (server.hasCaller) continue;
    log.warn("Kubelet disconnected without a registration status, publishing again", { check });
    return { kind: "status-lost" };
  }
  return undefined;
}

/** State `asked`: warns if kubelet sends no registration status for longer than it ever should need. */
export async function remindOfMissingStatus(
  { askedAtMs }: StateOf<"asked">,
  { log }: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  if (!(await pause(askedAtMs + KUBELET_BUSY_MS - performance.now(), signal))) return;
  const waited = `${KUBELET_BUSY_MS / 1000}s`;
  log.warn("Kubelet called GetInfo and has not reported a status", { waited, check });
}

const check = "kubelet's log, and whether the driver's NodeGetInfo answers";
