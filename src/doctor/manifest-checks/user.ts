import type { ManifestFacts } from "../deployment";
import { type Check, problem } from "../finding";

export const manifestUser: Check<ManifestFacts> = {
  code: "CSI108",
  name: "manifest-user",
  asks: "Whether the registrar runs as root.",
  matters: "Kubelet's `plugins_registry` is root's, with mode 0750: nobody else can make a socket there.",
  fix: "Set `runAsUser: 0` and take `runAsNonRoot` off. No capability and no privilege is needed.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, runAsUser, runAsNonRoot }) =>
      runAsNonRoot || (runAsUser ?? 0) !== 0
        ? problem(
            place,
            `does not run as root: ${runAsNonRoot ? "runAsNonRoot" : `runAsUser ${runAsUser}`}`,
            "set runAsUser: 0",
          )
        : undefined,
    ),
};
