import { isOlder, type NodeAnswer, type NodeApi, type NodeView } from "./node-api";

/** What is known of the Node. */
export interface Knowledge {
  /** Undefined: not read yet, or no such Node exists. */
  readonly node: NodeView | undefined;
  /** How many reads watches have begun with. */
  readonly reads: number;
}

export type NodeNews =
  /** The read that a watch begins with: counts whatever its version, because versions go back when etcd is restored. */
  | { readonly kind: "read"; readonly node: NodeView | undefined }
  /** What the watch tells next. Undefined: deleted. */
  | { readonly kind: "watched"; readonly node: NodeView | undefined }
  /** The answer to a request that was sent after so many `reads`. */
  | { readonly kind: "answered"; readonly node: NodeView; readonly reads: number };

/**
 * The one rule for what is newer: which Node it is (its UID) changes by the watch and its reads only, then the version decides.
 * An answer may be late: it may be of a Node that was deleted since, or of the time before etcd was restored.
 */
export function learn(known: Knowledge, news: NodeNews): Knowledge {
  const { node, reads } = known;
  if (news.kind === "read") return { node: news.node, reads: reads + 1 };
  const isSame = news.node?.uid === node?.uid;
  if (news.kind === "answered" && (!isSame || news.reads !== reads)) return known;
  const isNews = !isSame || (node && news.node && isNewer(news.node, node));
  return isNews ? { node: news.node, reads } : known;
}

const isNewer = (view: NodeView, than: NodeView) =>
  view.resourceVersion !== than.resourceVersion && !isOlder(view, than);

export type KnownNode = ReturnType<typeof createKnownNode>;

/** Holds the Node as it is known, and sends the requests that change it. Calls `onChange` when it is known to be another. */
export function createKnownNode(
  api: Pick<NodeApi, "getNode" | "patchNode" | "patchStatus">,
  onChange: () => void,
  rule: typeof learn = learn,
) {
  let known: Knowledge = { node: undefined, reads: 0 };
  const hear = (news: NodeNews): void => {
    const before = known.node;
    known = rule(known, news);
    if (known.node !== before) onChange();
  };
  const hearAnswer = async (asked: Promise<NodeAnswer<NodeView>>) => {
    const { reads } = known;
    const answer = await asked;
    if (answer.kind === "done") hear({ kind: "answered", node: answer.value, reads });
    return answer;
  };
  return {
    get now() {
      return known.node;
    },
    hear,
    read: (signal: AbortSignal) => hearAnswer(api.getNode(signal)),
    /** Applies a JSON patch to the Node with this UID. Fails with `conflict` if there is another, or if one of its tests fails. */
    patch: (uid: string, body: readonly object[], signal: AbortSignal) =>
      hearAnswer(api.patchNode([{ op: "test", path: "/metadata/uid", value: uid }, ...body], signal)),
    /** Merges a patch into the status of the Node with this UID. Fails with `conflict` if there is another. */
    patchStatus: (uid: string, body: object, signal: AbortSignal) =>
      hearAnswer(api.patchStatus({ ...body, metadata: { uid } }, signal)),
  };
}
