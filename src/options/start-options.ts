import { RegistrarError } from "../base/errors";
import type { Logger } from "../logging/logger";
import { isLoggerOption, type LoggerOption, resolveLogger } from "../logging/logger-option";
import { kindOf, signal } from "./option-kinds";
import { type OptionTable, optional } from "./read-options";

/** What every start takes besides its own options. */
export interface StartOptions {
  /** Aborted later, it closes what was started; aborted already, nothing starts. */
  readonly signal?: AbortSignal | undefined;
  /** Where to log: `console`, a pino logger, or one of `createLogger`. @default nothing is logged; what you would learn nowhere else, such as a refusal by kubelet, is a warning of the process, once each */
  readonly logger?: LoggerOption | undefined;
}

export interface ResolvedStartOptions {
  readonly signal: AbortSignal | undefined;
  readonly logger: Logger;
}

/** Options with every default filled in, without those that every start takes. */
export type Resolved<Options extends StartOptions> = {
  readonly [Name in keyof Options as Exclude<Name, keyof StartOptions>]-?: Exclude<Options[Name], undefined>;
};

const logger = kindOf("console, a pino logger, or one of createLogger()", (given) =>
  isLoggerOption(given) ? resolveLogger(given) : undefined,
);

export const START_OPTIONS: OptionTable<ResolvedStartOptions> = {
  signal: optional(signal),
  // A default of its own for each start: it tells each message once.
  logger: (given = resolveLogger(undefined), name) => logger.read(given, name),
};

/** Throws ABORTED, with the signal's reason as cause, if the signal is aborted already. */
export function refuseAborted(what: string, by: AbortSignal | undefined): void {
  if (by?.aborted)
    throw new RegistrarError("ABORTED", `${what} was stopped before it started`, { cause: by.reason });
}
