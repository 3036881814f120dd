import type { ManifestFacts } from "../deployment";
import { type Check, problem, warning } from "../finding";

const MEBIBYTE = 2 ** 20;

export const manifestMemory: Check<ManifestFacts> = {
  code: "CSI105",
  name: "manifest-memory",
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
