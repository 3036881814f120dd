import type { ManifestFacts } from "../deployment";
import { type Check, problem, warning } from "../finding";

const MEBIBYTE = 2 ** 20;

export const manifestMemory: Check<ManifestFacts> = {
  code: "CSI105",
  name: "manifest-memory",
  asks: "Whether this registrar's container may use the memory that it needs; the official one needs less.",
  matters:
    "Under 24Mi it spends its time on reclaiming; under 32Mi an exec probe or a doctor in the container gets it killed.",
  fix: "Request 32Mi and limit to 100Mi.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, memoryLimit, isOfficial }) => {
      if (memoryLimit === undefined || isOfficial || memoryLimit.bytes >= 32 * MEBIBYTE) return undefined;
      const text = `has a memory limit of ${memoryLimit.text}`;
      return (memoryLimit.bytes < 24 * MEBIBYTE ? problem : warning)(
        place,
        text,
        "set it to 100Mi, 32Mi at least",
      );
    }),
};
