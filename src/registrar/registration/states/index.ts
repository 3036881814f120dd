import type { RegistrationCore } from "../registration-core";
import type { StateChange } from "../state";
import { awaitNotice } from "./asked";
import { guardSocket } from "./in-place";
import { moveFromBackoff, remindOfSilence } from "./listening";
import { announce } from "./publishing";
import { answerRefusal } from "./refused";
import { standBy } from "./standby";

/**
 * What a registration does while it is in a state: begins when the state is entered and ends when `signal` is aborted,
 * which is when the state is left. States that are missing here only wait for an event.
 */
export async function live(core: RegistrationCore, signal: AbortSignal, change: StateChange): Promise<void> {
  switch (change.to) {
    case "publishing":
      return announce(core, signal, change);
    case "listening":
      return all(guardSocket(core, signal), moveFromBackoff(core, signal), remindOfSilence(core, signal));
    case "asked":
      return all(guardSocket(core, signal), awaitNotice(core, signal));
    case "registered":
      return guardSocket(core, signal);
    case "refused":
      return all(guardSocket(core, signal), answerRefusal(core, signal, change.event));
    case "standby":
      return standBy(core, signal, change);
    case "waiting":
    case "stopping":
    case "stopped":
      return;
    default:
      return change.to satisfies never;
  }
}

async function all(...activities: readonly Promise<void>[]): Promise<void> {
  await Promise.all(activities);
}
