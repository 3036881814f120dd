/** The variables in which charts pass the name of the pod's node; the first that is set counts. */
export const NODE_NAME_VARIABLES = ["NODE_NAME", "KUBE_NODE_NAME"];
