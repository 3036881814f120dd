/** `registrar/node-readiness`: keeps startup taints and a condition of a node in step with its registrations. */

export { only, type Registrations } from "../registrar/registrations";
export { type ApiAccess, type Environment, inClusterAccess, type Secret } from "./api/access";
export { accessFromKubeconfig } from "./api/kubeconfig";
export {
  type ObservedRegistration,
  type ObservedRegistrations,
  observeRegistrations,
} from "./observed-registrations";
export type { NodeReadinessOptions } from "./options";
export { type NodeReadiness, type NodeReadinessStatus, startNodeReadiness } from "./start-node-readiness";
