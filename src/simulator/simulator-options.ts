import type { EventOf } from "../base/event-source";
import { milliseconds, type OptionKind, wholeNumber } from "../options/option-kinds";
import { optional } from "../options/read-options";
import { START_OPTIONS, type StartOptions } from "../options/start-options";
import { WAIT_TIMEOUT_MS } from "./event-stream";

/** Of a fault. */
export interface FaultTimes {
  /** How often it occurs, 1 or more. @default until the faults are changed */
  readonly times?: number | undefined;
}

/** What both simulated parts take. */
export interface SimulatorOptions<Fault> extends StartOptions {
  /** What goes wrong on request. @default nothing */
  readonly faults?: readonly Fault[] | undefined;
  /** The limit of a wait that is given no `timeoutMs` of its own, in milliseconds. @default 4500 */
  readonly waitTimeoutMs?: number | undefined;
}

export const simulatorOptions = <Fault>(faults: OptionKind<readonly Fault[]>) => ({
  faults: optional(faults, []),
  waitTimeoutMs: optional(milliseconds(), WAIT_TIMEOUT_MS),
  ...START_OPTIONS,
});

export const faultTimes = optional(wholeNumber(1, Number.MAX_SAFE_INTEGER));

interface Fault extends FaultTimes {
  readonly kind: string;
}

export type FaultScript<AnyFault extends Fault> = ReturnType<typeof createFaultScript<AnyFault>>;

/** Calls `onTaken` with each fault that is used, and where. */
export function createFaultScript<AnyFault extends Fault>(
  initial: readonly AnyFault[],
  onTaken: (fault: AnyFault, socketPath: string) => void,
) {
  const arm = (faults: readonly AnyFault[]) =>
    faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }));
  let armed = arm(initial);
  return {
    set: (faults: readonly AnyFault[]): void => {
      armed = arm(faults);
    },
    /** Uses the first fault of this kind that matches once, and returns it; undefined: none matches. */
    take: <Kind extends AnyFault["kind"]>(
      kind: Kind,
      fits: (fault: EventOf<AnyFault, Kind>) => boolean = () => true,
      socketPath = "",
    ): EventOf<AnyFault, Kind> | undefined => {
      type Wanted = EventOf<AnyFault, Kind>;
      const entry = armed.find(({ fault, left }) => left > 0 && fault.kind === kind && fits(fault as Wanted));
      if (entry === undefined) return undefined;
      entry.left -= 1;
      onTaken(entry.fault, socketPath);
      return entry.fault as Wanted;
    },
  };
}
