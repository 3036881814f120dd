import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type ClusterTarget, readCluster } from "../../../../src/tools/doctor/cluster/read/cluster";
import { createListApi } from "../../../../src/tools/doctor/cluster/read/list-api";
import { reportOnCluster } from "../../../../src/tools/doctor/cluster/report";
import type { MemoryCluster } from "./memory-cluster";

/** Small, so that most lists have several pages. */
const PAGE_ITEMS = 2;
const TARGET = { context: undefined, node: undefined, driver: undefined };

/** What happens to a request in place of its answer. */
const FAULTS = {
  forbidden: (response) => status(response, 403, "you may not"),
  absent: (response) => response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found"),
  failing: (response) => status(response, 500, "etcd is away"),
  "bad gateway": (response) => response.writeHead(502).end("dial tcp: connection refused"),
  busy: (response) => status(response, 429, "too many requests"),
  cut: (response) => response.socket?.destroy(),
  "cut short": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 999 });
    response.write('{"items":[', () => response.socket?.destroy());
  },
  garbled: (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"items":['),
  expired: (response) => status(response, 410, "too old"),
} as const satisfies Readonly<Record<string, (response: ServerResponse) => unknown>>;
export type FaultKind = keyof typeof FAULTS;
export const FAULT_KINDS = Object.keys(FAULTS) as readonly FaultKind[];

function status(response: ServerResponse, code: number, message: string, more: object = {}): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify({ kind: "Status", code, message, ...more }));
}

export interface Fault {
  /** `expired, go on`: 410 with the token of the rest. */
  readonly kind: FaultKind | "expired, go on" | "delay";
  /** The read that it happens to, or all that fit; `page` counted from 0. */
  readonly read: string | RegExp;
  readonly page: number;
  /** It passes after one request. */
  readonly isPassing?: boolean;
}

/** A cluster's lists behind a unix socket, as through `kubectl proxy`. */
export async function startServedCluster(cluster: MemoryCluster, socketPath: string, nowMs: number) {
  let fault: Fault | undefined;
  /** Each read, and how many pages it has. */
  const reads = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const asTable = searchParams.has("includeObject");
    const query = Object.fromEntries(
      ["labelSelector", "fieldSelector"].flatMap((name) => {
        const value = searchParams.get(name);
        return value === null ? [] : [[name, value]];
      }),
    );
    const objects = cluster.find({ path: pathname, query, asTable });
    const page = Number(searchParams.get("continue") ?? 0);
    const read = `${pathname} ${Object.values(query).join()}`;
    reads.set(read, Math.max(1, Math.ceil(objects.length / PAGE_ITEMS)));
    const isMeant = typeof fault?.read === "object" ? fault.read.test(read) : fault?.read === read;
    const now = isMeant && fault?.page === page ? fault : undefined;
    if (now?.isPassing) fault = undefined;
    if (now?.kind === "delay") await delay(20);
    else if (now?.kind === "expired, go on")
      return status(response, 410, "too old", { metadata: { continue: String(page) } });
    else if (now !== undefined) return void FAULTS[now.kind](response);
    const items = objects.slice(page * PAGE_ITEMS, (page + 1) * PAGE_ITEMS);
    const hasMore = (page + 1) * PAGE_ITEMS < objects.length;
    const body = {
      metadata: { continue: hasMore ? String(page + 1) : "" },
      [asTable ? "rows" : "items"]: items,
    };
    response.writeHead(200, { "content-type": "application/json", date: new Date(nowMs).toUTCString() });
    response.end(JSON.stringify(body));
  });
  await once(server.listen(socketPath), "listening");
  return {
    reads: reads as ReadonlyMap<string, number>,
    report: async (wanted?: Fault, target: Partial<ClusterTarget> = {}, swap?: string) => {
      fault = wanted;
      using api = createListApi(socketPath, { wait: async () => undefined });
      return reportOnCluster(await readCluster(api, { ...TARGET, ...target }, {}, () => {}), swap);
    },
    [Symbol.dispose]: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
