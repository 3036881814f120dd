import { boundText } from "../../../logging/escape";
import { LEAST } from "../../../manifest/least";
import { isTemplate } from "../../rules/words";
import { placeInChart } from "../charts";
import { quantityOf } from "../quantity";
import { eachDeployment, problem, type Statement } from "./each-deployment";

/** The least limit with which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = quantityOf(LEAST.memory) ?? 0;

export const manifestMemory = eachDeployment(
  "CSI105",
  "manifest-memory",
  ({ memoryLimit, wrongLimits, program, chart }) => {
    const place = placeInChart(chart, "resources");
    if (wrongLimits !== "" && !isTemplate(wrongLimits))
      return problem(
        `has resources.limits ${boundText(wrongLimits)}, which is not a map: the API server refuses it`,
        `write resources.limits: {memory: 100Mi}, for example${place}`,
      );
    const refused = judgeQuantity("memory", memoryLimit, `write 100Mi, for example${place}`);
    if (refused !== undefined) return refused;
    // 0 is no limit.
    return program.kind !== "ours" || (quantityOf(memoryLimit) || LEAST_BYTES) >= LEAST_BYTES
      ? undefined
      : problem(
          `has a memory limit of ${memoryLimit}: it may never get ready after a reboot`,
          `set resources.limits.memory: 100Mi, at least ${LEAST.memory}${place}`,
        );
  },
);

/** A limit that the API server does not take from any program. */
export function judgeQuantity(resource: string, limit: string, fix: string): Statement | undefined {
  const amount = quantityOf(limit);
  if (isTemplate(limit) || (amount !== undefined && amount >= 0)) return undefined;
  const shown = limit.trim() === "" ? JSON.stringify(limit) : limit;
  const why = amount === undefined ? "no quantity" : "negative";
  return problem(
    `has a ${resource} limit of ${boundText(shown)}, which is ${why}: the API server refuses it`,
    fix,
  );
}
