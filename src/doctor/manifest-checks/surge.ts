import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestSurge: Check<ManifestFacts> = {
  code: "CSI107",
  name: "manifest-surge",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, maxSurge, hasDriver }) =>
      maxSurge !== undefined && hasDriver && !/^0%?$/.test(String(maxSurge))
        ? problem(place, `updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
        : undefined,
    ),
};
