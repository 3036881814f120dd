import { milliseconds, type OptionKind, wholeNumber } from "../options/option-kinds";
import { type OptionTable, optional } from "../options/read-options";
import {
  type Resolved,
  type ResolvedStartOptions,
  START_OPTIONS,
  type StartOptions,
} from "../options/start-options";
import { WAIT_TIMEOUT_MS } from "./event-stream";

export interface SimulatorOptions<Fault> extends StartOptions {
  /** What goes wrong on request. @default nothing */
  readonly faults?: readonly Fault[] | undefined;
  /** The limit of a wait that is given no `timeoutMs` of its own, in milliseconds. @default 4500 */
  readonly waitTimeoutMs?: number | undefined;
}

export type ResolvedSimulatorOptions<Fault> = Resolved<SimulatorOptions<Fault>>;

export function simulatorOptions<Fault>(
  faults: OptionKind<readonly Fault[]>,
): OptionTable<ResolvedSimulatorOptions<Fault> & ResolvedStartOptions> {
  return {
    faults: optional(faults, []),
    waitTimeoutMs: optional(milliseconds(), WAIT_TIMEOUT_MS),
    ...START_OPTIONS,
  };
}

export const faultTimes = optional(wholeNumber(0, Number.MAX_SAFE_INTEGER));
