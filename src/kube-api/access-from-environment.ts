import { type ApiAccess, type Environment, inClusterAccess } from "./access";

/** From the kubeconfig that KUBECONFIG names, else from the pod's service account. */
export async function accessFrom(environment: Environment): Promise<ApiAccess> {
  const { KUBECONFIG: file } = environment;
  if (!file) return inClusterAccess(environment);
  const { readKubeconfig } = await import("./read-kubeconfig");
  return readKubeconfig(file);
}
