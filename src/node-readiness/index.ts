/** `registrar/node-readiness`: keeps startup taints and a condition of a node in step with its registrations. */

export { type ApiAccess, type Environment, inClusterAccess, type Secret } from "../kube-api/access";
export { accessFromKubeconfig } from "../kube-api/kubeconfig";
export type { Registrations } from "../registrar/registration/registrations";
export type { ConditionStatus } from "./condition-keeper";
export type { CsiNodeStatus } from "./csi-node-keeper";
export type { NodeReadinessOptions } from "./options";
export {
  type NodeReadiness,
  type NodeReadinessStatus,
  startNodeReadiness,
  type Trouble,
} from "./start-node-readiness";
export type { TaintStatus } from "./taint-keeper";
