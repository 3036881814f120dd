import type { ApiFailure } from "./api/failure";
import type { NodeApi, Outcome } from "./api/node-api";
import type { NodeStore } from "./node-watch";

/** One look at everything, and what to do about it. */
export interface Pass {
  readonly api: NodeApi;
  readonly store: NodeStore;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The drivers that CSINode lists; read once in a pass, and only if needed. */
  listedDrivers(): Promise<Outcome<readonly string[]>>;
}

/** How a pass, or a part of it, ended. */
export type PassOutcome =
  /** All is as it should be; `againInMs` where time will change that. */
  | { readonly kind: "settled"; readonly againInMs?: number | undefined }
  /** To be tried again. */
  | { readonly kind: "failed"; readonly doing: string; readonly failure: ApiFailure };

/** The earlier of two times, where each may be missing. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
