/** The variables that charts set already to say which node a pod runs on; the first that is set counts. */
export const NODE_NAME_VARIABLES = ["NODE_NAME", "KUBE_NODE_NAME"];
