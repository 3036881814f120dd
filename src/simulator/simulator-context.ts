/** What a simulated part is given besides its options. */
export interface SimulatorContext {
  /** Aborted later, it closes what was started; aborted already, nothing starts. */
  readonly signal?: AbortSignal | undefined;
}
