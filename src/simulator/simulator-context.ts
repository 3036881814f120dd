/** What a simulated part gets besides its options. */
export interface SimulatorContext {
  /** Closes what was started when it is aborted; if it already is, nothing starts. */
  readonly signal?: AbortSignal | undefined;
}
