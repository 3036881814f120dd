import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestSurge: Check<ManifestFacts> = {
  code: "CSI107",
  name: "manifest-surge",
  asks: "Whether a DaemonSet with a driver in its pods has `maxSurge`.",
  matters:
    "Kubelet knows one endpoint for a driver's name: two pods of one driver on a node take it from each other.",
  fix: "Set `maxSurge: 0` and a `maxUnavailable`.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, maxSurge, hasDriver }) =>
      maxSurge !== undefined && hasDriver && !/^0%?$/.test(String(maxSurge))
        ? problem(place, `updates with maxSurge ${maxSurge}, and has a driver in its pods`, "set maxSurge: 0")
        : undefined,
    ),
};
