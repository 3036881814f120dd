import { setTimeout as delay } from "node:timers/promises";
import { backoffMs } from "../../../backoff";
import { hintForRefusal } from "../hints";
import type { RegistrationCore } from "../registration-core";
import type { RegistrationEvent } from "../state";

/** Between a refusal and the next publication. */
const RETRY_BACKOFF = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };
/** A refusal that repeats itself so often word for word will hardly pass: from then on the slow pace. */
const SLOW_AFTER_REPEATS = 3;
/** About ten minutes at the slow pace. */
const REMIND_EVERY_REPEATS = 20;

/**
 * State `refused`: kubelet said no, and has its answer. Policy `exit` ends the registration, so that the container
 * restarts. Policy `retry` publishes again after a while, which kubelets up to 1.35 need; from 1.36 on kubelet comes
 * back by itself, and its GetInfo ends this state before our wait is over.
 */
export async function answerRefusal(
  core: RegistrationCore,
  signal: AbortSignal,
  event: RegistrationEvent,
): Promise<void> {
  if (event.kind !== "refused") return;
  const text = event.error;
  const { memory, machine, options } = core;
  const log = core.log.named("refused");
  const hint = hintForRefusal(text, options.kubeletRegistrationPath);
  const hinted = hint ? { hint } : {};
  if (options.onRegistrationFailure === "exit") {
    const message = "Registration process failed with error, restarting registration container";
    log.error(new Error(text), message, hinted);
    return core.fail({ kind: "refused", error: text });
  }
  memory.repeats = text === memory.refusalText ? memory.repeats + 1 : 0;
  const isSlow = memory.repeats >= SLOW_AFTER_REPEATS;
  const waitMs = isSlow ? RETRY_BACKOFF.maxMs : Math.round(backoffMs(RETRY_BACKOFF, memory.refusals));
  memory.refusals += 1;
  memory.refusalText = text;
  const fields = { attempt: memory.refusals, retryIn: `${waitMs / 1000}s` };
  if (memory.repeats === SLOW_AFTER_REPEATS || (isSlow && memory.repeats % REMIND_EVERY_REPEATS === 0))
    log.error(
      new Error(text),
      "Kubelet keeps refusing the driver for the same reason, trying again at a slow pace",
      {
        ...fields,
        ...hinted,
      },
    );
  else if (memory.repeats > 0) log.v(4).info("Kubelet refused the driver again, for the same reason", fields);
  else log.error(new Error(text), "Kubelet refused the driver", { ...fields, ...hinted });
  await delay(waitMs, undefined, { signal }).catch(() => {});
  if (signal.aborted) return;
  machine.dispatch({ kind: "retry" });
}
