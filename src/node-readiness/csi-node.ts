import type { CsiNodeView, NodeAnswer, NodeApi, NodeView } from "./node-api";

/**
 * How CSINode lists a driver. `orphaned`: the Node was deleted and made again, and CSINode belongs to the deleted one, or was
 * collected with it. Kubelet 1.35 to 1.37 keeps a Node's UID until it restarts (nodeinfomanager.go), others ask for it anew.
 */
export type Listing = "listed" | "absent" | "orphaned";

export type CsiNodeStore = ReturnType<typeof createCsiNodeStore>;

/** Holds CSINode as it was last read, and whether it belongs to the Node that is there. */
export function createCsiNodeStore() {
  let seen: CsiNodeView | undefined;
  let node: NodeView | undefined;
  let deletedOwner: string | undefined;
  return {
    seeNode: (now: NodeView | undefined): void => {
      if (now === undefined || now.uid === node?.uid) return;
      deletedOwner = node?.uid;
      node = now;
    },
    read: async (api: Pick<NodeApi, "getCsiNode">, signal: AbortSignal): Promise<NodeAnswer<CsiNodeView>> => {
      const read = await api.getCsiNode(signal);
      if (read.kind === "failed") return read;
      seen = read.value;
      const { ownerUid, drivers } = seen;
      const isThere = ownerUid !== undefined || drivers.length > 0;
      if (node !== undefined && isThere) deletedOwner = ownerUid === node.uid ? undefined : ownerUid;
      return read;
    },
    /** Undefined before the first look. */
    listing: (driverName: string): Listing | undefined => {
      if (seen === undefined) return undefined;
      if (deletedOwner !== undefined) return "orphaned";
      return seen.drivers.includes(driverName) ? "listed" : "absent";
    },
    /** The UID of the deleted Node to which CSINode belongs, or belonged when it was collected. */
    get deletedOwner() {
      return deletedOwner;
    },
    /** Whether the garbage collector has yet to remove it. */
    get isOwned() {
      return seen?.ownerUid !== undefined;
    },
  };
}
