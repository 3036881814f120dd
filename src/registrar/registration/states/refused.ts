import { RegistrarError } from "../../../base/errors";
import { pause } from "../../../base/pause";
import { UNHEARD } from "../../../logging/logger";
import { refusedFor } from "../../model/outcome";
import type { LoopEvent, StateOf } from "../../model/state";
import { anotherAlias, type RegistrationContext, untilRemoved } from "../context";
import { explainRefusal } from "../hints";

/** How many refusals with the same text are one line of the log. */
const REMIND_EVERY_REPEATS = 10;

/**
 * State `refused`. Our socket goes at once, before the refusal is explained, which reads files of others: kubelet deregisters
 * the driver by its file, and would deregister its successor, too, if it saw both in one round. With policy `end` or `exit` the
 * registration ends. With policy `retry` publishes under another name after a while: kubelet backs off by path, up to 2 min 2 s,
 * and up to 1.35 it does not try the same file again.
 */
export async function endOrRetry(
  { waitMs, facts }: StateOf<"refused">,
  { options, socket, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const { text, count, repeats } = facts.refusals;
  const error = new RegistrarError("REFUSED", text);
  const findHint = async () => {
    const hint = await explainRefusal(text, options, options.isNodeWide ? facts.driverName : undefined);
    return hint === undefined ? {} : { hint };
  };

  if (options.onRegistrationFailure !== "retry") {
    const message =
      options.onRegistrationFailure === "end"
        ? "Kubelet refused the driver, its registration ends"
        : "Registration process failed with error, restarting registration container";
    await socket.withdraw().catch(() => {}); // State `stopping` tries again, and tells.
    const hint = await findHint();
    log.error(error, message, hint);
    return { kind: "stop", outcome: refusedFor(text, hint.hint) };
  }

  const hiding = untilRemoved(socket.hide, log, signal);
  const fields = { attempt: count, retryIn: `${waitMs / 1000}s` };
  if (repeats % REMIND_EVERY_REPEATS === 0)
    log.error(error, "Kubelet refused the driver", { ...fields, ...(await findHint()), ...UNHEARD });
  else log.v(4).info("Kubelet refused the driver again, for the same reason", fields);
  await hiding;
  if (!(await pause(waitMs, signal))) return undefined;
  return { kind: "retry", alias: anotherAlias(facts, options) };
}
