import { type Cluster, startCluster } from "./cluster";

/** A cluster for the tests of one file: a function that answers it once the tests run. */
export function useCluster(): () => Cluster {
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 300_000);
  afterAll(() => cluster?.[Symbol.asyncDispose](), 60_000);
  return () => {
    if (!cluster) throw new Error("the cluster has not started");
    return cluster;
  };
}
