import { BACKOFF } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import { refusedFor } from "../../model/outcome";
import type { LoopEvent, StateOf } from "../../model/state";
import type { RegistrationContext } from "../context";
import { explainRefusal } from "../hints";
import { SLOW_AFTER_REPEATS } from "../transition";

/** One line in ten minutes at the slow pace. */
const REMIND_EVERY_REPEATS = Math.round(600_000 / BACKOFF.refused.maxMs);

/**
 * State `refused`. With policy `exit` kubelet has its answer, and the registration ends, so that the container restarts.
 * With policy `retry` publishes again after a while, which kubelets up to 1.35 need. From 1.36 on kubelet comes back by
 * itself, and its GetInfo ends this state before our wait is over.
 */
export async function endOrRetry(
  { refusals, waitMs, facts }: StateOf<"refused">,
  { options, log: parentLog }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { text, count, repeats } = refusals;
  const log = parentLog.named("refused");
  const error = new Error(text);
  // Only a node-wide registrar leaves the place to others.
  const foundByPattern = options.placeTaken === "stand-by" ? facts.driverName : undefined;
  const findHint = async () => {
    const hint = await explainRefusal(text, options, { foundByPattern });
    return hint === undefined ? {} : { hint };
  };

  if (options.onRegistrationFailure === "exit") {
    // The official registrar's words, where there is a container.
    const message =
      options.csiSocketPath === undefined
        ? "Kubelet refused the driver, its registration ends"
        : "Registration process failed with error, restarting registration container";
    const hint = await findHint();
    log.error(error, message, hint);
    return { kind: "stop", reason: "refused", outcome: refusedFor(text, hint.hint) };
  }

  const fields = { attempt: count, retryIn: `${waitMs / 1000}s` };
  const isReminder = repeats > SLOW_AFTER_REPEATS && repeats % REMIND_EVERY_REPEATS === 0;
  if (repeats === SLOW_AFTER_REPEATS || isReminder)
    log.error(error, "Kubelet keeps refusing the driver for the same reason, trying again at a slow pace", {
      ...fields,
      ...(await findHint()),
    });
  else if (repeats > 0) log.v(4).info("Kubelet refused the driver again, for the same reason", fields);
  else log.error(error, "Kubelet refused the driver", { ...fields, ...(await findHint()) });
  return (await pause(waitMs, signal)) ? { kind: "retry" } : undefined;
}
