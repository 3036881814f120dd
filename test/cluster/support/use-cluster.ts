import { type Cluster, isOwn, startCluster } from "./cluster";

/** The one cluster of the suite, which runs from the first test to the last. */
const shared: { cluster?: Cluster } = {};

/** Starts it before the tests and ends it after them. */
export function useCluster(): void {
  beforeAll(async () => {
    shared.cluster = await startCluster();
  }, 300_000);
  afterAll(() => shared.cluster?.[Symbol.asyncDispose](), 60_000);
}

export function cluster(): Cluster {
  if (!shared.cluster) throw new Error("the cluster has not started");
  return shared.cluster;
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
