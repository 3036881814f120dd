import { allTests } from "../../support/each-test";
import { startCluster } from "./cluster";
import { until } from "./until";

/** One for all suites, because each takes half a minute. */
export const cluster = allTests(startCluster);

export const untilListed = (driver: string, isListed = true): Promise<void> =>
  until(
    () => expect(cluster.record.isListed(driver)).toBe(isListed),
    `CSINode ${isListed ? "lists" : "no longer lists"} ${driver}`,
  );
