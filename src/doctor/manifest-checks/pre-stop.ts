import type { ManifestFacts } from "../deployment";
import { type Check, warning } from "../finding";

export const manifestPreStop: Check<ManifestFacts> = {
  code: "CSI106",
  name: "manifest-pre-stop",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, preStop }) =>
      preStop?.some((word) => /\brm\b/.test(word))
        ? warning(place, `has a preStop hook that removes files: ${preStop.join(" ")}`, "delete the hook")
        : undefined,
    ),
};
