import type { ApiCall, ApiClient } from "./client";
import { type ApiFailure, failureOf } from "./failure";
import { fieldsOf } from "./json";
import { driversIn, type NodeView, parseNode } from "./node";

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** The requested value, or why it is not available. */
export type Outcome<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

/** One thing that a watch told. */
export type WatchEvent =
  /** The API server has begun to answer. */
  | { readonly kind: "opened" }
  | { readonly kind: "seen"; readonly node: NodeView }
  | { readonly kind: "deleted"; readonly resourceVersion: string }
  /** Nothing happened up to here. */
  | { readonly kind: "bookmark"; readonly resourceVersion: string }
  | { readonly kind: "error"; readonly failure: ApiFailure };

/** One Node and its CSINode at the API server: the only objects that are ever asked for. */
export interface NodeApi {
  getNode(signal: AbortSignal): Promise<Outcome<NodeView>>;
  /** The drivers that CSINode lists; none where there is no CSINode. */
  getListedDrivers(signal: AbortSignal): Promise<Outcome<readonly string[]>>;
  /** The Node as it is after the patch. `conflict` where a test failed. */
  patchNode(patch: readonly PatchOperation[], signal: AbortSignal): Promise<Outcome<NodeView>>;
  /** The Node as it is after the strategic merge patch of its status. */
  patchStatus(patch: object, signal: AbortSignal): Promise<Outcome<NodeView>>;
  /**
   * Tells what happens to the Node after `resourceVersion`, for about `seconds`. Resolves with what went wrong,
   * undefined where the watch merely ended.
   */
  watchNode(
    from: { readonly resourceVersion: string; readonly seconds: number },
    signal: AbortSignal,
    onEvent: (event: WatchEvent) => void,
  ): Promise<ApiFailure | undefined>;
}

/** With bookmarks once a minute, a watch that is silent for so long has lost its server. */
const WATCH_IDLE_MS = 5 * 60_000;

/** Makes the calls for the node `nodeName`. */
export function createNodeApi(client: ApiClient, nodeName: string): NodeApi {
  const nodePath = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const csiNodePath = `/apis/storage.k8s.io/v1/csinodes/${encodeURIComponent(nodeName)}`;

  const nodeFrom = async (call: ApiCall, signal: AbortSignal): Promise<Outcome<NodeView>> => {
    const answer = await client.call(call, signal);
    if (answer.kind === "failed") return answer;
    const node = parseNode(answer.object);
    if (node !== undefined) return { kind: "done", value: node };
    return { kind: "failed", failure: { kind: "unexpected", message: `${call.path} is no Node` } };
  };

  return {
    getNode: (signal) => nodeFrom({ method: "GET", path: nodePath }, signal),
    getListedDrivers: async (signal) => {
      const answer = await client.call({ method: "GET", path: csiNodePath }, signal);
      if (answer.kind === "answered") return { kind: "done", value: driversIn(answer.object) };
      return answer.failure.kind === "not-found" ? { kind: "done", value: [] } : answer;
    },
    patchNode: (body, signal) =>
      nodeFrom({ method: "PATCH", path: nodePath, body, contentType: "application/json-patch+json" }, signal),
    patchStatus: (body, signal) =>
      nodeFrom(
        {
          method: "PATCH",
          path: `${nodePath}/status`,
          body,
          contentType: "application/strategic-merge-patch+json",
        },
        signal,
      ),
    watchNode: async ({ resourceVersion, seconds }, signal, onEvent) => {
      const query = new URLSearchParams({
        watch: "true",
        fieldSelector: `metadata.name=${nodeName}`,
        resourceVersion,
        allowWatchBookmarks: "true",
        timeoutSeconds: String(seconds),
      });
      const onOpen = () => onEvent({ kind: "opened" });
      return client.follow(`/api/v1/nodes?${query}`, { signal, idleMs: WATCH_IDLE_MS, onOpen }, (line) => {
        const event = parseWatchEvent(line);
        if (event !== undefined) onEvent(event);
      });
    },
  };
}

/** Reads one line of a watch; undefined for an event that does not matter. */
export function parseWatchEvent(line: unknown): WatchEvent | undefined {
  const { type, object } = fieldsOf(line);
  const { resourceVersion } = fieldsOf(fieldsOf(object).metadata);
  switch (type) {
    case "ADDED":
    case "MODIFIED": {
      const node = parseNode(object);
      return node && { kind: "seen", node };
    }
    case "DELETED":
      return { kind: "deleted", resourceVersion: String(resourceVersion) };
    case "BOOKMARK":
      return { kind: "bookmark", resourceVersion: String(resourceVersion) };
    case "ERROR":
      return { kind: "error", failure: failureOf(Number(fieldsOf(object).code), object, undefined) };
    default:
      return undefined;
  }
}
