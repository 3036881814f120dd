import { attempt } from "../../../../base/errors";
import { mapOf, nameOf, needed, text, textOrNone, tree } from "../../../../kube-api/objects";
import { itemsOf } from "../../findings/opened";
import { type Gap, type SeenList, startReading, whyOf } from "../../findings/seen";
import { pastOrNone } from "./fields";
import type { ListApi } from "./list-api";
import { requireFields } from "./required";

const STORAGE = "storage.k8s.io";
/** The API group of each list, as RBAC names it. */
export const GROUPS = {
  ...{ events: "", limitranges: "", nodes: "", pods: "" },
  daemonsets: "apps",
  ...{ csidrivers: STORAGE, csinodes: STORAGE, volumeattachments: STORAGE },
} as const;

export type Resource = keyof typeof GROUPS;

/** What to do where the API server does not accept the token or certificate. */
export const LOG_IN = "kubectl's token or certificate is not accepted: log in again";

export const KINDS: Readonly<Record<Resource, string>> = {
  ...{ events: "Event", limitranges: "LimitRange", nodes: "Node", pods: "Pod", daemonsets: "DaemonSet" },
  ...{ csidrivers: "CSIDriver", csinodes: "CSINode", volumeattachments: "VolumeAttachment" },
};
/** A list that could not be read to its end, or one of its objects; the subject is empty for one without a name. */
export type ClusterGap = Gap<Resource>;

/** Takes the objects of a list; a list that begins again gets a new one. */
interface Collector<Value> {
  readonly add: (object: unknown, identity: Identity) => void;
  readonly values: () => readonly Value[];
  /** Of an object that cannot be read. */
  readonly knownOf?: ((object: unknown) => Gap["known"]) | undefined;
}

/** Collects what `parse` returns, except undefined. */
export const each =
  <Value>(
    parse: (object: unknown, identity: Identity) => Value | undefined,
    knownOf?: Collector<Value>["knownOf"],
  ) =>
  (): Collector<Value> => {
    const values: Value[] = [];
    const add = (object: unknown, identity: Identity) => {
      const value = parse(object, identity);
      if (value !== undefined) values.push(value);
    };
    return { values: () => values, add, knownOf };
  };

const NAMESPACED: readonly Resource[] = ["daemonsets", "events", "limitranges", "pods"];

/** As kubectl finds it. Throws for an object without a name, or without a namespace where it must have one. */
function readName(item: unknown, resource: Resource): string {
  const own = tree(mapOf(item).metadata);
  for (const field of NAMESPACED.includes(resource) ? ["name", "namespace"] : ["name"])
    needed(`metadata.${field}`, textOrNone(own[field]));
  return nameOf(item);
}

export type Identity = ReturnType<typeof identify>;

/** What an API server sets in each object. Throws for one that lacks some of it. */
function identify(item: unknown, resource: Resource, sentMs: number) {
  const name = readName(item, resource);
  requireFields(item, resource);
  const { namespace, uid, creationTimestamp } = tree(tree(item).metadata);
  return {
    /** `NAMESPACE/NAME`; the name alone of an object without a namespace. */
    name,
    namespace: text(namespace),
    uid: text(uid),
    /** Throws for a time in the future: only what depends on the age is unread then. */
    get createdMs() {
      return needed("metadata.creationTimestamp", pastOrNone(creationTimestamp, sentMs));
    },
    /** The API server's time when it sent the object. */
    sentMs,
  };
}

export type Reader = ReturnType<typeof createReader>;

/** Reads lists, each with what it lacks. */
export function createReader(api: Pick<ListApi, "list">) {
  const reading = startReading<Resource>();
  let beganMs: number | undefined;

  return {
    /** By default from all namespaces. */
    read: async <Value>(
      resource: Resource,
      start: () => Collector<Value>,
      query: Readonly<Record<string, string>> = {},
      namespace?: string,
    ): Promise<SeenList<Value>> => {
      const group = GROUPS[resource];
      const root = group ? `/apis/${group}/v1` : "/api/v1";
      const path = `${root}${namespace ? `/namespaces/${namespace}` : ""}/${resource}`;
      let collector = start();
      let gaps: ClusterGap[] = [];
      /** A cache of the API server may give an object twice. */
      let seen = new Set<string>();
      const failure = await api.list(
        { path, query, kind: `${KINDS[resource]}List` },
        (items, dateMs, isFirst) => {
          beganMs ??= dateMs;
          if (isFirst) [collector, gaps, seen] = [start(), [], new Set()];
          const readInto = (one: Collector<Value>, known: Set<string>) => (item: unknown) => {
            const identity = identify(item, resource, dateMs);
            const key = `${identity.name} ${identity.uid}`;
            if (known.has(key)) return;
            known.add(key);
            one.add(tree(item), identity);
          };
          for (const item of items)
            try {
              readInto(collector, seen)(item);
            } catch (error) {
              const subject = attempt(() => readName(item, resource)) ?? "";
              const known = collector.knownOf?.(item);
              gaps.push({
                part: resource,
                subject,
                why: whyOf(error, item, readInto(start(), new Set())),
                known,
              });
            }
        },
      );
      if (failure !== undefined) {
        const why = {
          kind: "list",
          failure: failure.kind,
          message: failure.message.replace(/\s+/g, " "),
        } as const;
        gaps.push({ part: resource, subject: resource, why, known: collector.knownOf?.({}) });
      }
      return reading.list(collector.values(), gaps);
    },
    lacking: <Value>(list: SeenList<Value>, ...gaps: readonly ClusterGap[]) =>
      reading.list(itemsOf(list), gaps),
    gaps: reading.gaps,
    byKnown: reading.byKnown,
    /** Whether any list could be read. */
    hasRead: () => beganMs !== undefined,
    /** The API server's time when the reading began: what started since then is recent, however long the lists are. */
    beganMs: () => beganMs ?? Date.now(),
  };
}
