import type { ApiFailure, Outcome } from "../kube-api/failure";
import type { NodeApi } from "./node-api";
import type { NodeStore } from "./node-watch";
import type { ObservedRegistration } from "./observed-registrations";

/** Keeps one part of the node's readiness as the registrations require. */
export interface Keeper<Status> {
  /** Compares the cluster with the registrations, and corrects it. */
  pass(registrations: readonly ObservedRegistration[], pass: Pass): Promise<PassOutcome>;
  status(registrations: readonly ObservedRegistration[], store: NodeStore): readonly Status[];
}

/** What a keeper works with. */
export interface Pass {
  readonly api: NodeApi;
  readonly store: NodeStore;
  readonly signal: AbortSignal;
  /** Milliseconds by a monotonic clock: the wall clock may be set during a wait. */
  readonly now: number;
  /** The drivers that CSINode lists; read at most once in a pass. */
  listedDrivers(): Promise<Outcome<readonly string[]>>;
}

export type PassOutcome =
  /** Nothing is left to do now; the next pass is due in `againInMs`, or when something changes. */
  | { readonly kind: "settled"; readonly againInMs?: number | undefined }
  /** The pass must be repeated. */
  | { readonly kind: "failed"; readonly doing: string; readonly failure: ApiFailure };

export const settled = (againInMs?: number): PassOutcome => ({ kind: "settled", againInMs });

export const failed = (doing: string, { failure }: { readonly failure: ApiFailure }) =>
  ({ kind: "failed", doing, failure }) as const;

/** The smaller number; undefined counts as later than any. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
