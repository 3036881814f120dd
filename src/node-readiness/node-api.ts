import type { ApiCall, ApiClient } from "../kube-api/client";
import { type ApiFailure, failureOf, type Outcome } from "../kube-api/failure";
import { tree } from "../kube-api/objects";
import { driversIn, type ListedDriver, type NodeView, parseNode } from "./node";

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

interface WatchListener {
  /** The API server has begun to answer. */
  readonly onOpen: () => void;
  /** The Node up to this version: undefined if it did not change, null if it was deleted. */
  readonly onVersion: (resourceVersion: string, node: NodeView | null | undefined) => void;
}

export type NodeApi = ReturnType<typeof createNodeApi>;

/** A watch with bookmarks once a minute that is silent for this time has lost its server. */
const WATCH_IDLE_MS = 5 * 60_000;

/** A node's own user. Groups are not to be named: the API server refuses a request for them, and adds its own. */
export const nodeUser = (nodeName: string) => `system:node:${nodeName}`;

/** Makes the requests for the node `nodeName`. None rejects. */
export function createNodeApi(client: ApiClient, nodeName: string) {
  const nodePath = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const csiNodePath = `/apis/storage.k8s.io/v1/csinodes/${encodeURIComponent(nodeName)}`;

  const nodeFrom = async (call: ApiCall, signal: AbortSignal): Promise<Outcome<NodeView>> => {
    const answer = await client.call(call, signal);
    if (answer.kind === "failed") return answer;
    const node = parseNode(answer.value);
    if (node !== undefined) return { kind: "done", value: node };
    return { kind: "failed", failure: { kind: "unexpected", message: `${call.path} is no Node` } };
  };
  const patch = (path: string, contentType: string, body: object, signal: AbortSignal) =>
    nodeFrom({ method: "PATCH", path, body, contentType }, signal);

  return {
    getNode: (signal: AbortSignal) => nodeFrom({ method: "GET", path: nodePath }, signal),
    /** The drivers that CSINode lists; none if there is no CSINode. */
    getListedDrivers: async (signal: AbortSignal): Promise<Outcome<readonly ListedDriver[]>> => {
      const answer = await client.call({ method: "GET", path: csiNodePath }, signal);
      if (answer.kind === "done") return { kind: "done", value: driversIn(answer.value) };
      return answer.failure.kind === "not-found" ? { kind: "done", value: [] } : answer;
    },
    /** Resolves with the patched Node. Fails with `conflict` if a test of the patch fails. */
    patchNode: (body: readonly PatchOperation[], signal: AbortSignal) =>
      patch(nodePath, "application/json-patch+json", body, signal),
    patchStatus: (body: object, signal: AbortSignal) =>
      patch(`${nodePath}/status`, "application/strategic-merge-patch+json", body, signal),
    /** Watches the Node after `resourceVersion` for about `seconds`. Resolves with the failure that ended it, if any. */
    watchNode: async (
      { resourceVersion, seconds }: { readonly resourceVersion: string; readonly seconds: number },
      signal: AbortSignal,
      { onOpen, onVersion }: WatchListener,
    ): Promise<ApiFailure | undefined> => {
      const query = new URLSearchParams({
        watch: "true",
        fieldSelector: `metadata.name=${nodeName}`,
        resourceVersion,
        allowWatchBookmarks: "true",
        timeoutSeconds: String(seconds),
      });
      let reported: ApiFailure | undefined;
      const onObject = (line: unknown) => {
        const { type, object } = tree(line);
        const version = String(tree(tree(object).metadata).resourceVersion);
        const node = parseNode(object);
        if (type === "ERROR") reported = failureOf(Number(tree(object).code), object, undefined);
        if (type === "BOOKMARK") onVersion(version, undefined);
        if (type === "DELETED") onVersion(version, null);
        if ((type === "ADDED" || type === "MODIFIED") && node) onVersion(version, node);
      };
      const path = `/api/v1/nodes?${query}`;
      const failure = await client.follow(path, { signal, idleMs: WATCH_IDLE_MS, onOpen, onObject });
      return reported ?? failure;
    },
  };
}
