import type { Equivalent } from "./equivalent";

/** The mutants of Stryker's that nobody could notice, each with why. */
export const EQUIVALENTS: readonly Equivalent[] = [];
