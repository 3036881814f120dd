import { boundText } from "../../../logging/escape";
import { LEAST } from "../../../manifest/least";
import { isTemplate } from "../../rules/words";
import { fixInChart, placeInChart } from "../read/charts";
import { eachDeployment, problem } from "./each-deployment";
import { boundOn, judgeAutoscaler, judgeLimit } from "./limits";
import { quantityOf } from "./quantity";

/** The least limit with which Node starts when its pages are not in the page cache. */
const LEAST_BYTES = quantityOf(LEAST.memory) ?? 0;

export const manifestMemory = eachDeployment("CSI105", "manifest-memory", (one, facts) => {
  const { limits, program, chart } = one;
  if (limits.wrong !== "" && !isTemplate(limits.wrong))
    return problem(
      `has resources.limits ${boundText(limits.wrong)}, which is not a map: the API server refuses it`,
      `write resources.limits: {memory: 100Mi}, for example${placeInChart(chart, "resources")}`,
    );
  const refused = judgeLimit(one, facts, "memory", "100Mi");
  if (refused !== undefined || program.kind !== "ours") return refused;
  const bound = boundOn(one, facts, "memory");
  if (bound === undefined || bound.amount >= LEAST_BYTES)
    return judgeAutoscaler(one, facts, "memory", LEAST.memory);
  const enough = `100Mi, at least ${LEAST.memory}`;
  return problem(
    `${bound.text}: it may never get ready after a reboot`,
    bound.raise === undefined
      ? fixInChart(chart, "resources", `set resources.limits.memory: ${enough}`)
      : `raise ${bound.raise} to ${enough}`,
  );
});
