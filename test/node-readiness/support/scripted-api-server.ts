import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { SecureContextOptions } from "node:tls";
import type { ApiAccess } from "../../../src/kube-api/access";
import type { NodeCondition, Taint } from "../../../src/node-readiness/node-api";
import { apiServerCertificate } from "./certificates";

export const NODE_NAME = "node-1";

const KINDS: Readonly<Record<string, string>> = {
  [`GET /api/v1/nodes/${NODE_NAME}`]: "get-node",
  "GET /api/v1/nodes": "watch",
  [`PATCH /api/v1/nodes/${NODE_NAME}`]: "patch-node",
  [`PATCH /api/v1/nodes/${NODE_NAME}/status`]: "patch-status",
  [`GET /apis/storage.k8s.io/v1/csinodes/${NODE_NAME}`]: "get-csinode",
};

const PATCH_TYPES: Readonly<Record<string, string>> = {
  "patch-node": "application/json-patch+json",
  "patch-status": "application/strategic-merge-patch+json",
};

interface StoredNode {
  readonly kind: "Node";
  readonly apiVersion: "v1";
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly taints?: readonly Taint[] };
  readonly status: { readonly conditions: readonly NodeCondition[] };
}

type SeenRequest = ReturnType<typeof readRequest>;

/** What the server answers instead of the truth: a status code, a broken connection, or silence. */
export type Fault =
  | { readonly kind: "status"; readonly code: number; readonly message: string; readonly retryAfter?: string }
  /** A proxy's page, or another answer that is not a Kubernetes Status. */
  | { readonly kind: "page"; readonly code: number; readonly contentType: string; readonly text: string }
  | { readonly kind: "reset" }
  | { readonly kind: "switch-protocols" }
  | { readonly kind: "silence" };

export type ScriptedApiServer = Awaited<ReturnType<typeof startScriptedApiServer>>;

/** Starts an API server of one Node, without taints, which fails as the real one cannot be made to fail. */
export async function startScriptedApiServer(host = "127.0.0.1", tls: SecureContextOptions = {}) {
  const { certificate, key } = await apiServerCertificate();
  let revision = 100;
  let uid = 1;
  let node: StoredNode | undefined;
  const requests: SeenRequest[] = [];
  /** The watches, and the version after which each one tells. */
  const watches = new Map<ServerResponse, number>();
  const tellWatches = (line: object, version = Number.POSITIVE_INFINITY) => {
    for (const [watch, after] of watches) if (version > after) watch.write(`${JSON.stringify(line)}\n`);
  };
  const store = (next: StoredNode, type = "MODIFIED") => {
    revision += 1;
    node = { ...next, metadata: { ...next.metadata, resourceVersion: String(revision) } };
    tellWatches({ type, object: node }, revision);
    return node;
  };
  const createNode = (givenUid?: string) => {
    const metadata = { name: NODE_NAME, uid: givenUid ?? `uid-${uid++}`, resourceVersion: "" };
    store({ kind: "Node", apiVersion: "v1", metadata, spec: {}, status: { conditions: [] } }, "ADDED");
  };
  createNode();

  const answerFault = (fault: Fault, { socket }: IncomingMessage, response: ServerResponse): unknown => {
    switch (fault.kind) {
      case "reset":
        return socket.destroy();
      case "silence":
        return;
      case "switch-protocols":
        return socket.write("HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
      case "status":
        return refuse(response, fault.code, fault.message, fault.retryAfter);
      case "page":
        return response.writeHead(fault.code, { "content-type": fault.contentType }).end(fault.text);
    }
  };

  const answer = async (seen: SeenRequest, request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const fault = server.script(seen);
    if (fault !== undefined) return answerFault(fault, request, response);
    const current = node;
    switch (seen.kind) {
      case "watch":
        response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
        // What happened since, as far as one stored state shows it.
        if (current && Number(seen.resourceVersion) < revision)
          response.write(`${JSON.stringify({ type: "MODIFIED", object: current })}\n`);
        watches.set(response, Number(seen.resourceVersion));
        return response.once("close", () => watches.delete(response));
      case "get-csinode":
        if (server.csiNode === null) return refuse(response, 404, "there is no CSINode");
        return send(
          response,
          server.csiNode ?? { kind: "CSINode", spec: { drivers: server.listed.map((name) => ({ name })) } },
        );
      case "other":
        return refuse(response, 404, "there is no such path");
    }
    if (current === undefined) return refuse(response, 404, `nodes "${NODE_NAME}" not found`);
    if (seen.kind === "get-node") return send(response, current);
    const isPatch = request.headers["content-type"] === PATCH_TYPES[seen.kind];
    if (!isPatch) return refuse(response, 415, "the body of the request was in an unknown format");
    const patch = JSON.parse(text);
    if (seen.kind === "patch-status" && patch.metadata.uid !== current.metadata.uid)
      return refuse(response, 409, "Precondition failed: UID in precondition");
    if (seen.kind === "patch-status") return send(response, store(mergeConditions(current, patch)));
    const patched = applyJsonPatch(current, patch);
    return patched
      ? send(response, store(patched))
      : refuse(response, 422, "the server rejected our request");
  };

  const http = createServer({ key, cert: certificate, ...tls }, (request, response) => {
    const seen = readRequest(request);
    requests.push(seen);
    void answer(seen, request, response);
  });
  http.listen(0, host);
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;

  const change = (fields: Partial<StoredNode>) => {
    if (node !== undefined) store({ ...node, ...fields });
  };
  const access: ApiAccess = {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    authority: { kind: "value", value: certificate },
    token: { kind: "value", value: "secret" },
  };
  const server = {
    access,
    requests: requests as readonly SeenRequest[],
    get node() {
      return node;
    },
    get watches() {
      return watches.size;
    },
    listed: [] as readonly string[],
    /** In place of one with the drivers in `listed`; null: there is none. */
    csiNode: undefined as object | null | undefined,
    script: (_request: SeenRequest): Fault | undefined => undefined,
    setTaints: (taints: readonly Taint[]) => change({ spec: { taints } }),
    createNode,
    deleteNode: () => {
      revision += 1;
      const metadata = { ...node?.metadata, resourceVersion: String(revision) };
      tellWatches({ type: "DELETED", object: { ...node, metadata } });
      node = undefined;
    },
    /** Restores etcd: the Node is as it was, with an old version, and all connections end. */
    restore: (version: number) => {
      revision = version;
      change({});
      http.closeAllConnections();
    },
    tellWatches,
    endWatches: () => {
      for (const watch of watches.keys()) watch.end();
    },
    breakConnections: () => http.closeAllConnections(),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return server;
}

/** Applies a JSON Patch of tests and removals of taints; undefined if a test fails. */
function applyJsonPatch(
  node: StoredNode,
  patch: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[],
): StoredNode | undefined {
  const taints = [...(node.spec.taints ?? [])];
  for (const { op, path, value } of patch) {
    const place = Number(path.replace("/spec/taints/", ""));
    const there = path === "/metadata/uid" ? node.metadata.uid : taints[place];
    if (op === "test" && JSON.stringify(there) !== JSON.stringify(value)) return undefined;
    if (op === "remove") taints.splice(place, 1);
  }
  return { ...node, spec: { taints } };
}

function mergeConditions(
  node: StoredNode,
  patch: { readonly status: { readonly conditions: readonly NodeCondition[] } },
): StoredNode {
  const conditions = new Map(node.status.conditions.map((condition) => [condition.type, condition]));
  for (const given of patch.status.conditions)
    conditions.set(given.type, { ...conditions.get(given.type), ...given });
  return { ...node, status: { conditions: [...conditions.values()] } };
}

function readRequest({ url = "/", method, headers, socket }: IncomingMessage) {
  const { pathname, searchParams } = new URL(url, "https://server");
  return {
    kind: KINDS[`${method} ${pathname}`] ?? "other",
    url,
    token: headers.authorization?.replace("Bearer ", ""),
    resourceVersion: searchParams.get("resourceVersion"),
    /** The client's: tells its connections apart. */
    port: socket.remotePort,
  };
}

function send(response: ServerResponse, object: object, code = 200): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(object));
}

function refuse(response: ServerResponse, code: number, message: string, retryAfter?: string): void {
  if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
  const reason = code === 404 ? { reason: "NotFound" } : {};
  send(response, { kind: "Status", status: "Failure", message, ...reason, code }, code);
}
