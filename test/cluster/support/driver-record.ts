import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { setTimeout as delay } from "node:timers/promises";
import { readJsonLines } from "../../../src/kube-api/request";
import type { CSINode } from "./stage";
import { until } from "./until";

interface Moment {
  readonly at: number;
  readonly drivers: ReadonlySet<string>;
}

/** CSINode, watched: which drivers a node has, over time. `proxy` is an API server without credentials. */
export async function recordDrivers(proxy: string, node: string) {
  const moments: Moment[] = [];
  const stopping = new AbortController();
  const url = `${proxy}/apis/storage.k8s.io/v1/csinodes`;
  const add = (csiNode: CSINode | undefined) => {
    const drivers = new Set((csiNode?.spec.drivers ?? []).map(({ name }) => name));
    moments.push({ at: performance.now(), drivers });
  };
  const following = follow();
  await until(() => {
    if (moments.length === 0) throw new Error("the API server has not answered");
  }, "CSINode is watched");

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      // While the API server is away its last answer counts.
      await listAndWatch().catch(() => {});
      await delay(100, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }
  async function listAndWatch(): Promise<void> {
    const only = `fieldSelector=metadata.name=${node}`;
    const { signal } = stopping;
    const answer = await fetch(`${url}?${only}`, { signal });
    if (!answer.ok) throw new Error(`${answer.status}`);
    const list = (await answer.json()) as { metadata: { resourceVersion: string }; items: CSINode[] };
    add(list.items[0]);
    const watched = await fetch(`${url}?${only}&watch=1&resourceVersion=${list.metadata.resourceVersion}`, {
      signal,
    });
    for await (const line of readJsonLines(Readable.fromWeb(watched.body as ReadableStream))) {
      const { type, object } = line as { type: string; object: CSINode };
      if (type === "ERROR") return;
      if (type !== "BOOKMARK") add(type === "DELETED" ? undefined : object);
    }
  }
  const isListed = (driver: string) => moments.at(-1)?.drivers.has(driver) ?? false;
  const lastChange = (driver: string) => {
    const now = isListed(driver);
    const before = moments.findLastIndex(({ drivers }) => drivers.has(driver) !== now);
    return moments[before + 1];
  };
  return {
    isListed,
    /** For how long it has been listed, of the time since `from`; 0: it is not. */
    listedMs: (driver: string, from: number) =>
      isListed(driver) ? performance.now() - Math.max(lastChange(driver)?.at ?? 0, from) : 0,
    missingMs: (driver: string, from: number, to: number) =>
      moments.reduce((sum, { at, drivers }, index) => {
        if (drivers.has(driver)) return sum;
        const ends = Math.min(moments[index + 1]?.at ?? to, to);
        return sum + Math.max(0, ends - Math.max(at, from));
      }, 0),
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await following;
    },
  };
}
