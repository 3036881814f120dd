import { LEAST } from "../../../manifest/least";
import { placeInChart } from "../charts";
import { quantityOf } from "../quantity";
import { eachDeployment, problem } from "./each-deployment";

/** The least limit with which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = quantityOf(LEAST.memory) ?? 0;

export const manifestMemory = eachDeployment(
  "CSI105",
  "manifest-memory",
  ({ memoryLimit, program, chart }) =>
    // 0 is no limit.
    program.kind !== "ours" || (quantityOf(memoryLimit) || LEAST_BYTES) >= LEAST_BYTES
      ? undefined
      : problem(
          `has a memory limit of ${memoryLimit}: it may never get ready after a reboot`,
          `set resources.limits.memory: 100Mi, at least ${LEAST.memory}${placeInChart(chart, "resources")}`,
        ),
);
