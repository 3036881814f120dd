import { type Backoff, backoffMs } from "../base/backoff";
import type { CsiNodeStore } from "./csi-node";
import type { KnownNode } from "./known-node";
import type { NodeAnswer, NodeView } from "./node-api";
import type { ObservedRegistration } from "./observed-registrations";

/** Keeps one part of the node's readiness as the registrations require. */
export interface Keeper<Status> {
  /** Corrects the cluster. Answers the milliseconds until the next pass, undefined: until a change. A failed one is repeated. */
  pass(registrations: readonly ObservedRegistration[], pass: Pass): Promise<NodeAnswer<number | undefined>>;
  status(
    registrations: readonly ObservedRegistration[],
    node: NodeView | undefined,
    csiNode: CsiNodeStore,
  ): readonly Status[];
}

export interface Pass {
  readonly node: KnownNode;
  readonly signal: AbortSignal;
  /** Milliseconds by a monotonic clock: the wall clock may be set during a wait. */
  readonly now: number;
  readonly csiNode: CsiNodeStore;
  /** Reads CSINode into `csiNode`, at most once in a pass. */
  readCsiNode(): Promise<NodeAnswer<unknown>>;
}

export function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

export function valueAt<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** Waits before a value is written again that another client keeps changing. Twice the longest wait without a write ends them. */
export function createRewritePace(backoff: Backoff, { freeRewrites = 3, random = Math.random } = {}) {
  const writes = new Map<string, { value: string; at: number; rewrites: number; notBefore: number }>();
  return {
    waitMs: (name: string, value: string, now: number): number => {
      const last = writes.get(name);
      return last?.value === value ? Math.max(0, last.notBefore - now) : 0;
    },
    /** Records a write. Returns whether the waits begin with it. */
    wrote: (name: string, value: string, now: number): boolean => {
      for (const [known, { at }] of writes) if (now - at > 2 * backoff.maxMs) writes.delete(known);
      const last = writes.get(name);
      const isSame = last?.value === value;
      const rewrites = (last?.rewrites ?? 0) + (isSame ? 1 : 0);
      const beyond = rewrites - freeRewrites;
      const notBefore = beyond < 0 ? now : now + backoffMs(backoff, beyond, random);
      writes.set(name, { value, at: now, rewrites, notBefore });
      return isSame && beyond === 0;
    },
  };
}
