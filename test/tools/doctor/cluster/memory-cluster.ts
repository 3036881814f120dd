import { type ClusterTarget, readCluster } from "../../../../src/tools/doctor/cluster/read/cluster";
import type { ListApi, ListFailure, ListRequest } from "../../../../src/tools/doctor/cluster/read/list-api";
import { conclude, reportOnCluster } from "../../../../src/tools/doctor/cluster/report";
import type { OurImage } from "../../../../src/tools/recognise/program";
import { csiDriver, daemonSet, podStatus, type SetChanges } from "../../../support/cluster-objects";
import { inWholeWords } from "../findings/whole-words";
import {
  addNode,
  type ClusterWriter,
  DISK,
  deploy,
  makeSickCluster,
  STORAGE,
  type Stored,
} from "./sick-cluster";

export const NOW_MS = Date.parse("2026-11-22T12:00:00Z");
/** So many minutes before {@link NOW_MS}. */
export const ago = (minutes: number) => new Date(NOW_MS - minutes * 60_000).toISOString();

type Any = Stored & { readonly [field: string]: unknown };
type Placed = { path: string; object: Any };

/** What happens to a read, or to all that fit, after some pages: it ends, its object is broken, or it takes 20 minutes. */
interface Fault {
  readonly read: string | RegExp;
  readonly page: number;
  readonly what: ListFailure | "broken" | "delayed";
}

const broken = ({ metadata }: Any) => ({ metadata, spec: "x", status: "x", involvedObject: "x" });

export type MemoryCluster = ReturnType<typeof createMemoryCluster>;

/** An API server's lists without a server: it stores what is created, and picks by the selectors that the doctor uses. */
export function createMemoryCluster() {
  const stored: Placed[] = [];
  /** Each read of the present reading, and how many pages it has. */
  const reads = new Map<string, number>();
  let fault: Fault | undefined;
  let view = (_path: string, object: object): object => object;
  /** Of the present reading, which takes minutes. */
  let pages = 0;
  let nowMs = NOW_MS;

  const find = ({ path, query = {} }: ListRequest): readonly object[] => {
    const resource = path.split("/").at(-1) ?? "";
    const isIn = (one: string) =>
      path.includes("/namespaces/") ? one === path : one.endsWith(`/${resource}`);
    return stored
      .filter((one) => isIn(one.path) && isSelected(one.object, query))
      .map((one) => view(one.path, one.object));
  };
  const list: ListApi["list"] = async (request, onPage) => {
    const { path, query = {} } = request;
    // A page for each, so that nothing is lost between pages, and an empty one at the end.
    const items = [...find(request).map((one) => [one]), []];
    const read = `${path} ${Object.values(query).join()}`;
    reads.set(read, items.length);
    const isFaulty = typeof fault?.read === "string" ? fault.read === read : fault?.read.test(read);
    for (const [at, item] of items.entries()) {
      const what = isFaulty && fault?.page === at ? fault.what : undefined;
      if (typeof what === "object") return what;
      // The other reads, which need not wait for this one, end before it.
      if (what === "delayed") await new Promise(setImmediate);
      const lateMs = what === "delayed" ? 20 * 60_000 : 10_000 * pages++;
      onPage(what === "broken" ? item.map((one) => broken(one as Any)) : item, nowMs + lateMs, at === 0);
    }
    return undefined;
  };

  const change = (path: string, changes: (object: Any) => object) => {
    const at = path.lastIndexOf("/");
    const found = stored.find(
      (one) => one.path === path.slice(0, at) && one.object.metadata.name === path.slice(at + 1),
    );
    if (found === undefined) throw new Error(`there is no ${path}`);
    found.object = { ...found.object, ...changes(found.object) };
  };
  const writer: ClusterWriter = {
    create: async (path, object) => {
      const { metadata = {}, ...rest } = object as { metadata?: object };
      const uid = `uid-${stored.length}`;
      const status = path.endsWith("/pods") ? { status: { phase: "Pending" } } : {};
      const whole = {
        spec: {},
        ...status,
        ...rest,
        metadata: { creationTimestamp: ago(60), ...metadata, uid },
      };
      stored.push({ path, object: whole as unknown as Any });
      return whole as never;
    },
    setStatus: async (path, status) =>
      change(path, (old) => ({
        status: path.includes("/pods/") ? { phase: Object(old.status).phase, ...status } : status,
      })),
  };
  const reading = (target: Partial<ClusterTarget> = {}, ours: OurImage = {}) => {
    const whole = { context: undefined, node: undefined, driver: undefined, ...target };
    pages = 0;
    reads.clear();
    return readCluster({ list }, whole, ours);
  };
  return {
    ...writer,
    reads: reads as ReadonlyMap<string, number>,
    find,
    /** All objects, as JSON: to change the names in them, their order, or one of them. */
    edit: (change: (stored: readonly Placed[]) => readonly Placed[]) => {
      stored.splice(0, stored.length, ...change(stored));
    },
    /** The time at the API server. */
    setNow: (ms: number) => {
      nowMs = ms;
    },
    setSpec: async (path: string, changes: object): Promise<void> =>
      change(path, ({ spec }) => ({ spec: { ...Object(spec), ...changes } })),
    facts: async () => conclude(await reading()),
    report: async (target?: Partial<ClusterTarget>, ours?: OurImage) => {
      const report = await reportOnCluster(await reading(target, ours));
      inWholeWords(report.findings);
      return report;
    },
    swapReport: async (swap: string) => reportOnCluster(await reading(), swap),
    /** Changes what lists have of objects, which are selected as they are stored. */
    setView: (wanted: typeof view) => {
      view = wanted;
    },
    /** Lists fail so from now on. */
    setFault: (wanted?: Fault) => {
      fault = wanted;
    },
    refuse: (lists: readonly string[], message: string, kind: ListFailure["kind"] = "forbidden") => {
      fault = { what: { kind, message }, page: 0, read: new RegExp(`/(?:${lists.join("|")}) `) };
    },
  };
}

/** Whether an object fits the selectors, which the doctor writes as `name=value`, comma-separated. */
function isSelected(
  object: Any,
  { labelSelector, fieldSelector }: NonNullable<ListRequest["query"]>,
): boolean {
  const { labels = {} } = object.metadata as { labels?: Record<string, string> };
  const fits = (selector: string | undefined, partOf: (name: string) => unknown) =>
    (selector?.split(",") ?? []).every((term) => {
      const [name = "", value] = term.split("=");
      return (partOf(name) ?? "") === value;
    });
  const fieldOf = (path: string) => path.split(".").reduce<unknown>((at, key) => Object(at)[key], object);
  return fits(labelSelector, (name) => labels[name]) && fits(fieldSelector, fieldOf);
}

/** The cluster whose real API server recorded/sick-cluster.json has the answers of. */
export async function sickCluster(): Promise<MemoryCluster> {
  const cluster = createMemoryCluster();
  await makeSickCluster(cluster, NOW_MS);
  return cluster;
}

export const running = { kind: "running", at: ago(30) } as const;
export const WELL = podStatus({ registrar: running, driver: running });

export interface Changes {
  /** Of node-1; default: without a fault. */
  readonly inCsiNode?: Readonly<Record<string, string>>;
  readonly isReady?: boolean;
  readonly status?: object;
  readonly isScheduled?: boolean;
  readonly set?: SetChanges;
  /** The DaemonSet itself, and what admission makes of its template. */
  readonly daemon?: ReturnType<typeof daemonSet>;
  readonly admit?: (set: ReturnType<typeof daemonSet>, node: string) => ReturnType<typeof daemonSet>;
  readonly desired?: number;
  /** Default: node-1, the only Node. The status is of the pod there, others are well. */
  readonly podsOn?: readonly string[];
  readonly hasCsiDriver?: boolean;
}

/** A cluster with one node and one driver, without a fault except the changes. */
export async function makeCluster(changes: Changes = {}): Promise<MemoryCluster> {
  const { inCsiNode = { [DISK]: "i-1" }, status = WELL, ...more } = changes;
  const cluster = createMemoryCluster();
  await addNode(cluster, "node-1", inCsiNode, more);
  if (more.hasCsiDriver ?? true) await cluster.create(`${STORAGE}/csidrivers`, csiDriver(DISK));
  const set = more.daemon ?? daemonSet(DISK, more.set);
  const statusOn = (name: string) => (name === "node-1" ? status : WELL);
  await deploy(cluster, set, more.podsOn ?? ["node-1"], statusOn, more);
  return cluster;
}

export async function said(cluster: MemoryCluster): Promise<readonly string[]> {
  const { findings } = await cluster.report();
  return findings
    .filter(({ status }) => status !== "ok")
    .map(({ code, status, subject, text, fix, command }) =>
      [`${code} ${status}: ${subject} ${text} -> ${fix}`, command ?? []].flat().join(": "),
    );
}

/** Expects one line of {@link said} for each pattern, in this order. */
export async function expectSaid(cluster: MemoryCluster, ...patterns: readonly RegExp[]): Promise<void> {
  expect(await said(cluster)).toEqual(patterns.map((pattern) => expect.stringMatching(pattern)));
}
