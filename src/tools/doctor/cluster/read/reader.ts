import { nameOf, type Unread, unreadAt } from "../../manifest/read/objects";
import type { ListApi, ListFailure } from "./list-api";

const ADMISSION = {
  group: "admissionregistration.k8s.io",
  /** Before 1.36 Kubernetes serves admission policies that mutate in an older version, if asked to. */
  versions: ["v1", "v1beta1", "v1alpha1"],
  mayBeAbsent: true,
} as const;
const [APPS, STORAGE] = [{ group: "apps" }, { group: "storage.k8s.io" }] as const;
/** More is kept of DaemonSets than of other objects; 5,000 of them fit. */
const MAX_SET_BYTES = 64 * 2 ** 20;

interface ListKind {
  /** As RBAC names it. */
  readonly group: string;
  /** The next one is tried if the API server does not have one. Default v1. */
  readonly versions?: readonly string[];
  /** Older API servers do not have it. */
  readonly mayBeAbsent?: boolean;
  /** The metadata and what kubectl shows are enough. */
  readonly asTable?: boolean;
  readonly maxBytes?: number;
}

const LISTS = {
  csidrivers: STORAGE,
  csinodes: STORAGE,
  daemonsets: { ...APPS, maxBytes: MAX_SET_BYTES },
  events: { group: "" },
  limitranges: { group: "" },
  mutatingadmissionpolicies: ADMISSION,
  mutatingadmissionpolicybindings: ADMISSION,
  nodes: { group: "", asTable: true },
  pods: { group: "" },
  statefulsets: { ...APPS, maxBytes: MAX_SET_BYTES },
  volumeattachments: STORAGE,
} as const satisfies Readonly<Record<string, ListKind>>;

export type Resource = keyof typeof LISTS;

interface ReadRequest {
  readonly resource: Resource;
  readonly query?: Readonly<Record<string, string>>;
  /** Default: all namespaces. */
  readonly namespace?: string;
}

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
 * `onProgress` is called with the number of objects of a list that were read so far.
 */
export function createReader(
  api: Pick<ListApi, "list">,
  onProgress: (resource: string, count: number) => void,
) {
  const unread = new Map<Resource, ListFailure>();
  const unreadObjects: Unread[] = [];
  const incomplete = new Set<Resource>();
  let beganMs: number | undefined;
  let hasRead = false;

  const readVersion = async <Value>(
    { resource, query = {}, namespace = "" }: ReadRequest,
    group: string,
    start: () => Collector<Value>,
  ) => {
    const { asTable = false, maxBytes }: ListKind = LISTS[resource];
    let collector = start();
    let bad: Unread[] = [];
    let count = 0;
    const path = `${group}${namespace && `/namespaces/${namespace}`}/${resource}`;
    const failure = await api.list({ path, query, asTable, maxBytes }, (items, dateMs, isFirst) => {
      beganMs ??= dateMs;
      hasRead = true;
      if (isFirst) [collector, bad, count] = [start(), [], 0];
      for (const item of items)
        try {
          collector.add(item);
        } catch (error) {
          bad.push(unreadAt(`${resource} ${nameOf(item)}`, error));
        }
      count += items.length;
      onProgress(resource, count);
    });
    unreadObjects.push(...bad);
    if (bad.length > 0) incomplete.add(resource);
    return { failure, values: collector.values };
  };

  /** Without rights the answer is the same where the API server does not have the resource; everybody may ask for its group. */
  const isAbsent = async ({ kind }: ListFailure, group: string) =>
    kind === "not-found" ||
    (kind === "forbidden" && (await api.list({ path: group }, () => {}))?.kind === "not-found");

  return {
    read: async <Value>(request: ReadRequest, start: () => Collector<Value>): Promise<Value> => {
      const { resource } = request;
      const { group, versions = ["v1"], mayBeAbsent = false }: ListKind = LISTS[resource];
      for (const [at, version] of versions.entries()) {
        const path = group ? `/apis/${group}/${version}` : "/api/v1";
        const { failure, values } = await readVersion(request, path, start);
        const isLast = failure?.kind !== "not-found" || at === versions.length - 1;
        if (failure !== undefined && isLast && !(mayBeAbsent && (await isAbsent(failure, path)))) {
          unread.set(resource, { ...failure, message: failure.message.replace(/\s+/g, " ") });
          incomplete.add(resource);
        }
        if (isLast) return values;
      }
      return start().values;
    },
    unread: unread as ReadonlyMap<Resource, ListFailure>,
    unreadObjects: unreadObjects as readonly Unread[],
    incomplete: incomplete as ReadonlySet<Resource>,
    groupOf: (resource: Resource): string => LISTS[resource].group,
    /** Whether any list could be read. */
    hasRead: () => hasRead,
    /** The API server's time when the reading began: what started since then is recent, however long the lists are. */
    beganMs: () => beganMs ?? Date.now(),
  };
}
