import { nameOf, type Unread, unreadAt } from "../../files/read/objects";
import type { ListApi, ListFailure } from "./list-api";

const STORAGE = "storage.k8s.io";
/** The API group of each list, as RBAC names it. */
const GROUPS = {
  ...{ events: "", limitranges: "", nodes: "", pods: "" },
  daemonsets: "apps",
  ...{ csidrivers: STORAGE, csinodes: STORAGE, volumeattachments: STORAGE },
} as const;

export type Resource = keyof typeof GROUPS;
type UnreadList = ListFailure & { readonly resource: Resource; readonly apiGroup: string };

/** Takes the objects of a list; a list that begins again gets a new one. */
export interface Collector<Value> {
  readonly values: Value;
  readonly add: (object: unknown) => void;
}

/** Collects what `parse` returns, except undefined. */
export const each =
  <Value>(parse: (object: unknown) => Value | undefined) =>
  (): Collector<readonly Value[]> => {
    const values: Value[] = [];
    const add = (object: unknown) => {
      const value = parse(object);
      if (value !== undefined) values.push(value);
    };
    return { values, add };
  };

export type Reader = ReturnType<typeof createReader>;

/**
 * Reads lists. Why one could not be read to its end is in `unread`, each object that could not be parsed in `unreadObjects`.
 */
export function createReader(api: Pick<ListApi, "list">) {
  const unread = new Map<Resource, UnreadList>();
  const unreadObjects: Unread[] = [];
  const incomplete = new Set<Resource>();
  let beganMs: number | undefined;

  return {
    /** By default from all namespaces. */
    read: async <Value>(
      resource: Resource,
      start: () => Collector<Value>,
      query: Readonly<Record<string, string>> = {},
      namespace?: string,
    ): Promise<Value> => {
      const group = GROUPS[resource];
      const root = group ? `/apis/${group}/v1` : "/api/v1";
      const path = `${root}${namespace ? `/namespaces/${namespace}` : ""}/${resource}`;
      let collector = start();
      let bad: Unread[] = [];
      // Of Nodes the metadata and what kubectl shows are enough.
      const request = { path, query, asTable: resource === "nodes" };
      const failure = await api.list(request, (items, dateMs, isFirst) => {
        beganMs ??= dateMs;
        if (isFirst) [collector, bad] = [start(), []];
        for (const item of items)
          try {
            collector.add(item);
          } catch (error) {
            bad.push(unreadAt(`${resource} ${nameOf(item)}`, error));
          }
      });
      unreadObjects.push(...bad);
      if (failure !== undefined)
        unread.set(resource, {
          resource,
          ...failure,
          apiGroup: group,
          message: failure.message.replace(/\s+/g, " "),
        });
      if (failure !== undefined || bad.length > 0) incomplete.add(resource);
      return collector.values;
    },
    unread: unread as ReadonlyMap<Resource, UnreadList>,
    unreadObjects: unreadObjects as readonly Unread[],
    incomplete: incomplete as ReadonlySet<Resource>,
    /** Whether any list could be read. */
    hasRead: () => beganMs !== undefined,
    /** The API server's time when the reading began: what started since then is recent, however long the lists are. */
    beganMs: () => beganMs ?? Date.now(),
  };
}
