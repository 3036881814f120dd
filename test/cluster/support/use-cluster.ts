import { type Cluster, startCluster } from "./cluster";
import { OURS } from "./objects";
import { createStage, type Stage } from "./stage";
import { until } from "./until";

let shared: Cluster | undefined;

export function useCluster(): void {
  beforeAll(async () => {
    shared = await startCluster();
  }, 300_000);
  afterAll(() => shared?.[Symbol.asyncDispose](), 60_000);
}

export function cluster(): Cluster {
  if (!shared) throw new Error("the cluster has not started");
  return shared;
}

export async function startStage(): Promise<Stage> {
  const stage = createStage(cluster(), OURS);
  try {
    await stage.apply();
    await stage.registered();
    return stage;
  } catch (error) {
    await stage[Symbol.asyncDispose]();
    throw error;
  }
}

export const untilListed = (driver: string, isListed = true): Promise<void> =>
  until(
    () => expect(cluster().record.isListed(driver)).toBe(isListed),
    `CSINode ${isListed ? "lists" : "no longer lists"} ${driver}`,
  );
