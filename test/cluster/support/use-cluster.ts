import { type Cluster, isOwn, startCluster } from "./cluster";

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

/** A test that needs the node's inside: left out, and said so, in a cluster that is not the suite's own. */
export function insideTest(title: string, run: () => Promise<void>): void {
  if (isOwn) test(title, run);
  else sayLeftOut(title);
}

/** Says what is not tried in somebody else's cluster. */
export function sayLeftOut(title: string): void {
  process.stdout.write(`left out, as it needs the node's inside: ${title}\n`);
}
