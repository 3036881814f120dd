import type { Check } from "../../findings/finding";
import { architectures } from "./architectures";
import type { ClusterFacts } from "./facts";
import {
  autoscalers,
  coverage,
  csiDrivers,
  nodesReady,
  providers,
  rights,
  volumeLimits,
  waiting,
} from "./needs";
import { dropped, imagePolicy } from "./policies";
import { driverPods, duplicates, nodeIds, podsStart, registered, registrarPods } from "./registrations";

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
