import { placeInChart } from "../charts";
import { quantityOf } from "../quantity";
import { eachDeployment, problem } from "./each-deployment";

/** The least limit with which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = 64 * 2 ** 20;

export const manifestMemory = eachDeployment(
  "CSI105",
  "manifest-memory",
  ({ memoryLimit, program, chart }) =>
    program.kind !== "ours" || (quantityOf(memoryLimit) ?? LEAST_BYTES) >= LEAST_BYTES
      ? undefined
      : problem(
          `has a memory limit of ${memoryLimit}: it may never get ready after a reboot`,
          `set resources.limits.memory: 100Mi, at least 64Mi${placeInChart(chart, "resources")}`,
        ),
);
