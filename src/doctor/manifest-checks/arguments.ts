import type { ManifestFacts } from "../deployment";
import { type Check, ok, problem } from "../finding";

export const manifestArguments: Check<ManifestFacts> = {
  code: "CSI101",
  name: "manifest-arguments",
  asks: "Whether the registrar would start with the arguments of its container, by the registrar's own parser.",
  matters: "A misspelt flag ends with exit code 2, a value that cannot work with 1: the pod crash-loops.",
  fix: "Correct the argument that is named. `--kubelet-registration-path` is required.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, settings }) => {
      if (settings.problem !== undefined)
        return problem(place, `does not start: ${settings.problem}`, "correct that argument");
      return settings.kubeletRegistrationPath === ""
        ? problem(
            place,
            "does not start: kubelet-registration-path is a required parameter",
            "add --kubelet-registration-path: the driver's socket as the host has it",
          )
        : ok(place, "has arguments with which the registrar starts");
    }),
};
