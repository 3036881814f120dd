import { BACKOFF } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import { refusedFor } from "../../model/outcome";
import type { DriverFacts, LoopEvent, StateOf } from "../../model/state";
import type { RegistrationContext } from "../context";
import { explainRefusal } from "../hints";
import { SLOW_AFTER_REPEATS } from "../transition";

/** One line in ten minutes at the slow pace. */
const REMIND_EVERY_REPEATS = Math.round(600_000 / BACKOFF.refused.maxMs);

/**
 * State `refused` with policy `exit`: kubelet has its answer, and the registration ends, so that the container
 * restarts.
 */
export function endRefused({ refusals, facts }: StateOf<"refused">, context: RegistrationContext): LoopEvent {
  const { text } = refusals;
  const log = context.log.named("refused");
  // The official registrar's words, where there is a container.
  const message =
    context.options.csiSocketPath === undefined
      ? "Kubelet refused the driver, its registration ends"
      : "Registration process failed with error, restarting registration container";
  const { hint } = hinted(text, facts, context);
  log.error(new Error(text), message, hint === undefined ? {} : { hint });
  return { kind: "stop", reason: "refused", outcome: refusedFor(text, hint) };
}

/**
 * State `refused` with policy `retry`: publishes again after a while, which kubelets up to 1.35 need. From 1.36 on
 * kubelet comes back by itself, and its GetInfo ends this state before our wait is over.
 */
export async function awaitRetry(
  { refusals, waitMs, facts }: StateOf<"refused">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { text, count, repeats } = refusals;
  const log = context.log.named("refused");
  const error = new Error(text);
  const fields = { attempt: count, retryIn: `${waitMs / 1000}s` };
  const isReminder = repeats > SLOW_AFTER_REPEATS && repeats % REMIND_EVERY_REPEATS === 0;
  if (repeats === SLOW_AFTER_REPEATS || isReminder)
    log.error(error, "Kubelet keeps refusing the driver for the same reason, trying again at a slow pace", {
      ...fields,
      ...hinted(text, facts, context),
    });
  else if (repeats > 0) log.v(4).info("Kubelet refused the driver again, for the same reason", fields);
  else log.error(error, "Kubelet refused the driver", { ...fields, ...hinted(text, facts, context) });
  return (await pause(waitMs, signal)) ? { kind: "retry" } : undefined;
}

function hinted(
  text: string,
  { driverName }: DriverFacts,
  { options }: RegistrationContext,
): { readonly hint?: string } {
  // Only a node-wide registrar leaves the place to others.
  const foundByPattern = options.placeTaken === "stand-by" ? driverName : undefined;
  const hint = explainRefusal(text, options, { foundByPattern });
  return hint === undefined ? {} : { hint };
}
