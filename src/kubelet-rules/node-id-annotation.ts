/** The annotation that maps driver names to node IDs, as JSON. Source: `nodeinfomanager.go`. */
export const NODE_ID_ANNOTATION = "csi.volume.kubernetes.io/nodeid";
