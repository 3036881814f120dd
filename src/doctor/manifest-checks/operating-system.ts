import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestOperatingSystem: Check<ManifestFacts> = {
  code: "CSI112",
  name: "manifest-operating-system",
  asks: "Whether this registrar is to run on Windows nodes. The official one for Windows is not judged.",
  matters:
    "Kubelet on Windows dials unix sockets, and Node cannot serve them there: the registrar ends with exit code 1.",
  fix: "Use the official registrar's image in the DaemonSet for Windows.",
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
