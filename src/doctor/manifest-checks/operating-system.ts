import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestOperatingSystem: Check<ManifestFacts> = {
  code: "CSI112",
  name: "manifest-operating-system",
  verdicts: ({ forWindows }) =>
    forWindows
      .filter(({ isOfficial }) => !isOfficial)
      .map(({ place }) =>
        problem(
          place,
          "is for Windows nodes, and this registrar runs on Linux only",
          "use the official registrar's image there",
        ),
      ),
};
