import { attempt } from "../../../base/errors";
import { list, text, textOrNone, tree } from "../../../kube-api/objects";
import { NODE_ID_ANNOTATION } from "../../../kubelet-rules/node-id-annotation";

/**
 * A row of the table of Nodes, with the Node's metadata: the whole objects are ten times as large, for the names of the
 * images. The second column is STATUS, as `kubectl get nodes` shows it.
 */
export function readNodeRow(row: unknown) {
  const { cells, object } = tree(row);
  const { name, annotations, labels } = tree(tree(object).metadata);
  const [status = ""] = text(list(cells)[1]).split(",");
  const nodeIds = tree(attempt(() => JSON.parse(text(tree(annotations)[NODE_ID_ANNOTATION]))));
  return {
    name: text(name),
    /** Kubelet reports to the API server. */
    isReady: status === "Ready",
    /** `amd64`; undefined if kubelet has not written the label. */
    architecture: textOrNone(tree(labels)["kubernetes.io/arch"]),
    /** Driver -> node ID. */
    nodeIds: new Map(Object.entries(nodeIds).map(([driver, id]) => [driver, text(id)])),
  };
}

/** Name of the node, and driver -> node ID. */
export function readCsiNode(object: unknown): readonly [node: string, drivers: ReadonlyMap<string, string>] {
  const { metadata, spec } = tree(object);
  const drivers = list(tree(spec).drivers).flatMap((driver): readonly [string, string][] => {
    const name = textOrNone(tree(driver).name);
    return name === undefined ? [] : [[name, text(tree(driver).nodeID)]];
  });
  return [text(tree(metadata).name), new Map(drivers)];
}
