import type { ClusterFacts } from "../cluster/cluster-facts";
import type { Check } from "../finding";
import { coverage } from "./coverage";
import { csiDrivers } from "./csi-drivers";
import { driverPods } from "./driver-pods";
import { duplicates } from "./duplicates";
import { nodeIds } from "./node-ids";
import { nodesReady } from "./nodes-ready";
import { podsStart } from "./pods-start";
import { providers } from "./providers";
import { registered } from "./registered";
import { registrarPods } from "./registrar-pods";
import { rights } from "./rights";
import { waiting } from "./waiting";

/** Every question to a cluster: what the pods say, what kubelet wrote, what is needed. */
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
];
