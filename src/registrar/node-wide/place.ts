import { BACKOFF, backoffMs } from "../../base/backoff";
import { followSignal, pause } from "../../base/pause";
import type { Logger } from "../../logging/logger";
import { mayAccept, tryConnect } from "../../unix/unix-socket";
import type { Hold } from "../driver/hold";
import type { RegistrationOutcome } from "../model/outcome";
import type { DriverTrouble } from "../model/status";
import type { Registration } from "../registration/registration";

/** The shortest wait until the next look at a driver that is silent, whatever `driverGoneAfterMs` is. */
const SHORTEST_LOOK_MS = 1_000;
/** A failure after this long is a first failure again. */
const STEADY_AFTER_MS = BACKOFF.failedDriver.maxMs;

const WHY_LATER = {
  failed: "Trying again later, or when the CSI driver restarts",
  renamed: "CSI driver changed its name again, trying again later",
};
const SOCKET_GONE = "its socket is gone";

interface PlaceContext {
  readonly driverGoneAfterMs: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Starts the registration of its driver. */
  readonly begin: (hold?: Hold) => Registration;
  /** Whether the driver's socket is there. */
  readonly isThere: () => boolean;
}

/** Registers a driver, again after a failure and under each new name, until it has left the node. */
export function startPlace(
  csiAddress: string,
  room: Hold,
  { begin, isThere, driverGoneAfterMs, log, signal }: PlaceContext,
) {
  let registration = begin(room);
  let sinceMs = 0;
  const gone = followSignal(signal);
  /** Why the registration waits for its turn; undefined if it does not. */
  let held: keyof typeof WHY_LATER | undefined;
  /** Until a driver that is away is looked at. */
  let look: NodeJS.Timeout | undefined;

  const leave = (reason: string) => {
    if (gone.signal.aborted) return;
    log.info("CSI driver has gone", { csiAddress, reason });
    gone.abort();
    registration.close().catch(() => {}); // It never rejects.
  };

  /** After a while, looks whether the driver is back. If not, it has left. */
  const expectDeparture = (afterMs = driverGoneAfterMs) => {
    clearTimeout(look);
    if (held !== undefined || gone.signal.aborted) return;
    look = setTimeout(async () => {
      const isBack = mayAccept(await tryConnect(csiAddress));
      if (held !== undefined) return;
      if (!isBack) leave(`not there for ${driverGoneAfterMs / 1000}s`);
      // A driver that accepts connections without an answer may go without a further event: look again.
      else if (!registration.status().connected)
        expectDeparture(Math.max(driverGoneAfterMs, SHORTEST_LOOK_MS));
    }, afterMs);
  };

  /** Has the next registration wait. */
  const holdFor = (outcome: RegistrationOutcome, waitMs: number): Hold => {
    held = outcome.kind === "failed" ? "failed" : "renamed";
    const after = `${waitMs / 1000}s`;
    log.info(WHY_LATER[held], { csiAddress, after });
    const until = pause(waitMs, gone.signal).then(() => {
      held = undefined;
      sinceMs = performance.now();
      if (!isThere()) leave(SOCKET_GONE);
    });
    return { until, status: statusAfter(outcome, registration, after) };
  };

  const run = async () => {
    for (let failures = 0; ; failures += 1) {
      sinceMs = performance.now();
      registration.subscribe("driver-lost", () => expectDeparture());
      const outcome = await registration.closed;
      clearTimeout(look);
      if (gone.signal.aborted || (failures === 0 && !isThere())) return;
      if (performance.now() - sinceMs >= STEADY_AFTER_MS) failures = 0;
      // One that came back under another name starts over at once, but not again and again.
      const nth = outcome.kind === "failed" ? failures : failures - 1;
      registration = begin(nth < 0 ? undefined : holdFor(outcome, backoffMs(BACKOFF.failedDriver, nth)));
    }
  };

  return {
    get registration() {
      return registration;
    },
    /** Resolves when the driver has left and its registration has ended. */
    left: run().finally(() => gone[Symbol.dispose]()),
    leave,
    loseSocket: (): void => {
      if (held === "renamed") return; // One that has another name after each restart waits all the same.
      if (held === undefined && registration.status().identity !== undefined) expectDeparture();
      else leave(SOCKET_GONE);
    },
  };
}

/** What the status says of a driver while its next registration waits. */
function statusAfter(outcome: RegistrationOutcome, { status }: Registration, after: string): Hold["status"] {
  const { identity } = status();
  const trouble: DriverTrouble =
    outcome.kind === "failed"
      ? { kind: "failed", text: outcome.error.message }
      : { kind: "renamed", text: `it changed its name again, and is asked again ${after} after that` };
  return () => ({ identity, trouble });
}
