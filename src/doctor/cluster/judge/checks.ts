import type { Check } from "../../findings/finding";
import { architectures } from "./architectures";
import type { ClusterFacts } from "./facts";
import { autoscalers, volumeLimits } from "./limits";
import { coverage, csiDrivers, providers, waiting } from "./needs";
import { driverPods, podsStart, registrarPods } from "./pods";
import { dropped, imagePolicy } from "./policies";
import { nodesReady, rights } from "./reading";
import { duplicates, nodeIds, registered } from "./registrations";

export const CLUSTER_CHECKS: readonly Check<ClusterFacts>[] = [
  registrarPods,
  podsStart,
  driverPods,
  registered,
  nodeIds,
  duplicates,
  coverage,
  providers,
  csiDrivers,
  nodesReady,
  waiting,
  rights,
  volumeLimits,
  autoscalers,
  imagePolicy,
  dropped,
  architectures,
];
