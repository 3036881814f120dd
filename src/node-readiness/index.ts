/** `registrar/node-readiness`: keeps startup taints and a condition of a node in step with its registrations. */

export { type ApiAccess, type Credential, inClusterAccess } from "../kube-api/access";
export { accessFromKubeconfig, type KubeConfigLike } from "../kube-api/kubeconfig";
export type { Registrations } from "../registrar/registration/registrations";
export type { ConditionStatus } from "./condition-keeper";
export type { CsiNodeStatus } from "./csi-node-keeper";
export type { NodeReadinessOptions } from "./options";
export {
  type ApiTrouble,
  type NodeReadiness,
  type NodeReadinessStatus,
  startNodeReadiness,
} from "./start-node-readiness";
export type { TaintStatus } from "./taint-keeper";
