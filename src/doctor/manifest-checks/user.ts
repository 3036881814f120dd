import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestUser: Check<ManifestFacts> = {
  code: "CSI108",
  name: "manifest-user",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, runAsUser, runAsNonRoot }) => {
      const isOther = (runAsUser ?? 0) !== 0;
      if (runAsNonRoot === undefined && !isOther) return undefined;
      const what = runAsNonRoot === undefined ? `runAsUser ${runAsUser}` : "runAsNonRoot";
      const fixes = [
        ...(runAsNonRoot === "pod" ? ["set runAsNonRoot: false in the container"] : []),
        ...(runAsNonRoot === "container" ? ["take runAsNonRoot off"] : []),
        ...(isOther ? ["set runAsUser: 0"] : []),
      ];
      return problem(place, `does not run as root: ${what}`, fixes.join(", and "));
    }),
};
