import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { ApiAccess } from "../../../src/node-readiness/api/access";
import type { NodeCondition, Taint } from "../../../src/node-readiness/api/node";
import type { Certificate } from "./certificates";
import { applyJsonPatch, mergeConditions, type StoredNode } from "./stored-node";

/** One request as it came. */
export interface SeenRequest {
  readonly kind:
    | "get-node"
    | "watch"
    | "patch-node"
    | "patch-status"
    | "get-csinode"
    | "ask-for-right"
    | "other";
  readonly url: string;
  readonly token: string | undefined;
  readonly resourceVersion: string | null;
  /** The client's: tells its connections apart. */
  readonly port: number | undefined;
}

/** What is answered in place of the truth: a status code, a broken connection, or silence. */
export type Fault =
  | { readonly kind: "status"; readonly code: number; readonly message: string; readonly retryAfter?: string }
  /** A proxy's page, or what else is no Kubernetes Status. */
  | { readonly kind: "page"; readonly code: number; readonly contentType: string; readonly text: string }
  | { readonly kind: "reset" }
  | { readonly kind: "switch-protocols" }
  | { readonly kind: "silence" };

/** An API server of one Node that does what the real one cannot be made to do. */
export interface ScriptedApiServer extends AsyncDisposable {
  readonly access: ApiAccess;
  readonly requests: readonly SeenRequest[];
  /** The Node as it is stored. */
  readonly node: StoredNode | undefined;
  readonly watches: number;
  setTaints(taints: readonly Taint[]): void;
  setConditions(conditions: readonly NodeCondition[]): void;
  createNode(): void;
  deleteNode(): void;
  /** Drivers that CSINode lists. */
  listed: readonly string[];
  /** What RBAC does not allow: `patch nodes/status`. */
  denied: readonly string[];
  /** Asked before each answer; what it does to the Node has happened before. */
  script: (request: SeenRequest) => Fault | undefined;
  /** Writes this line to every watch. */
  tellWatches(line: object): void;
  /** Ends every watch, as a server does whose time for it is over. */
  endWatches(): void;
  /** Breaks every connection. */
  breakConnections(): void;
}

export const NODE_NAME = "node-1";

/** Starts one with a Node that has no taint. */
export async function startScriptedApiServer(
  { certificate, key }: Certificate,
  host = "127.0.0.1",
): Promise<ScriptedApiServer> {
  let revision = 100;
  let uid = 1;
  let node: StoredNode | undefined;
  const requests: SeenRequest[] = [];
  const watches = new Set<ServerResponse>();
  const tell = (line: object) => {
    for (const watch of watches) watch.write(`${JSON.stringify(line)}\n`);
  };
  const store = (next: StoredNode, type = "MODIFIED") => {
    revision += 1;
    node = { ...next, metadata: { ...next.metadata, resourceVersion: String(revision) } };
    tell({ type, object: node });
    return node;
  };
  const create = () => {
    const metadata = { name: NODE_NAME, uid: `uid-${uid++}`, resourceVersion: "" };
    store({ kind: "Node", apiVersion: "v1", metadata, spec: {}, status: { conditions: [] } }, "ADDED");
  };
  create();

  const answer = async (seen: SeenRequest, request: IncomingMessage, response: ServerResponse) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const fault = server.script(seen);
    if (fault?.kind === "reset") return void request.socket.destroy();
    if (fault?.kind === "silence") return;
    if (fault?.kind === "switch-protocols")
      return void request.socket.write("HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n");
    if (fault?.kind === "status") return refuse(response, fault.code, fault.message, fault.retryAfter);
    if (fault?.kind === "page")
      return void response.writeHead(fault.code, { "content-type": fault.contentType }).end(fault.text);
    const current = node;
    if (seen.kind === "watch") {
      response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
      // What happened since, as far as one stored state tells it.
      if (current && Number(seen.resourceVersion) < revision)
        response.write(`${JSON.stringify({ type: "MODIFIED", object: current })}\n`);
      watches.add(response);
      return void response.once("close", () => watches.delete(response));
    }
    if (seen.kind === "get-csinode")
      return send(response, { kind: "CSINode", spec: { drivers: server.listed.map((name) => ({ name })) } });
    if (seen.kind === "ask-for-right") {
      const { verb, resource, subresource } = JSON.parse(text).spec.resourceAttributes;
      const right = `${verb} ${[resource, subresource].filter(Boolean).join("/")}`;
      return send(response, { status: { allowed: !server.denied.includes(right) } });
    }
    if (seen.kind === "other") return refuse(response, 404, "there is no such path");
    if (current === undefined) return refuse(response, 404, `nodes "${NODE_NAME}" not found`);
    if (seen.kind === "get-node") return send(response, current);
    const patch = JSON.parse(text);
    if (seen.kind === "patch-status") return send(response, store(mergeConditions(current, patch)));
    const patched = applyJsonPatch(current, patch);
    if (patched === undefined) return refuse(response, 422, "the server rejected our request");
    send(response, store(patched));
  };

  const http = createServer({ key, cert: certificate }, (request, response) => {
    const seen = readRequest(request);
    requests.push(seen);
    void answer(seen, request, response);
  });
  http.listen(0, host);
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;

  const change = (update: (current: StoredNode) => StoredNode) => {
    if (node !== undefined) store(update(node));
  };
  const server: ScriptedApiServer = {
    access: {
      server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
      authority: { kind: "value", value: certificate },
      token: { kind: "value", value: "secret" },
    },
    requests,
    get node() {
      return node;
    },
    get watches() {
      return watches.size;
    },
    listed: [],
    denied: [],
    script: () => undefined,
    setTaints: (taints) => change((current) => ({ ...current, spec: { taints } })),
    setConditions: (conditions) => change((current) => ({ ...current, status: { conditions } })),
    createNode: create,
    deleteNode: () => {
      revision += 1;
      if (node)
        tell({
          type: "DELETED",
          object: { ...node, metadata: { ...node.metadata, resourceVersion: String(revision) } },
        });
      node = undefined;
    },
    tellWatches: tell,
    endWatches: () => {
      for (const watch of watches) watch.end();
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

function readRequest({ url = "/", method, headers, socket }: IncomingMessage): SeenRequest {
  const { pathname, searchParams } = new URL(url, "https://server");
  const kinds: Readonly<Record<string, SeenRequest["kind"]>> = {
    [`GET /api/v1/nodes/${NODE_NAME}`]: "get-node",
    "GET /api/v1/nodes": "watch",
    [`PATCH /api/v1/nodes/${NODE_NAME}`]: "patch-node",
    [`PATCH /api/v1/nodes/${NODE_NAME}/status`]: "patch-status",
    [`GET /apis/storage.k8s.io/v1/csinodes/${NODE_NAME}`]: "get-csinode",
    "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": "ask-for-right",
  };
  return {
    kind: kinds[`${method} ${pathname}`] ?? "other",
    url,
    token: headers.authorization?.replace("Bearer ", ""),
    resourceVersion: searchParams.get("resourceVersion"),
    port: socket.remotePort,
  };
}

function send(response: ServerResponse, object: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(object));
}

function refuse(response: ServerResponse, code: number, message: string, retryAfter?: string): void {
  const headers = {
    "content-type": "application/json",
    ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
  };
  const reason = code === 404 ? { reason: "NotFound" } : {};
  const status = { kind: "Status", status: "Failure", message, ...reason, code };
  response.writeHead(code, headers).end(JSON.stringify(status));
}
