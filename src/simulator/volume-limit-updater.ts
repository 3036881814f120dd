import { setTimeout as delay } from "node:timers/promises";

type Update = (driverName: string, endpoint: string, isStopped: () => boolean) => Promise<void>;

/**
 * Kubelet's updater of volume limits: calls `update` for a started driver at each of its periods, one call at a time; never
 * for a driver without a period. It ends with the signal. Unlike kubelet's, a period begins when the last call has ended.
 * Source: `pkg/volume/csi/csi_node_updater.go`.
 */
export function createVolumeLimitUpdater(
  periodsMs: Readonly<Record<string, number>>,
  update: Update,
  signal: AbortSignal,
) {
  const running = new Map<string, AbortController>();
  const stop = (driverName: string) => {
    running.get(driverName)?.abort();
    running.delete(driverName);
  };
  return {
    /** Begins a new period, also for a driver that was started before. */
    start: (driverName: string, endpoint: string): void => {
      stop(driverName);
      const periodMs = new Map(Object.entries(periodsMs)).get(driverName);
      if (periodMs === undefined) return;
      const stopped = new AbortController();
      running.set(driverName, stopped);
      const ended = AbortSignal.any([signal, stopped.signal]);
      void repeat(periodMs, () => update(driverName, endpoint, () => ended.aborted), ended);
    },
    stop,
  };
}

async function repeat(periodMs: number, act: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(periodMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await act();
  }
}
