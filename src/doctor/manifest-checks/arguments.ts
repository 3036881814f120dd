import type { ManifestFacts } from "../deployment";
import { type Check, ok, problem, unknown } from "../finding";

const NODE_NAME_ENTRY =
  "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

export const manifestArguments: Check<ManifestFacts> = {
  code: "CSI101",
  name: "manifest-arguments",
  asks:
    "Whether the registrar would start with the arguments of its container, by the registrar's own parser. " +
    "An official image is judged by the flags of its release. What a shell or another program starts is not judged, " +
    "nor what is filled in from a ConfigMap.",
  matters: "A misspelt flag ends with exit code 2, a value that cannot work with 1: the pod crash-loops.",
  fix:
    "Correct the argument that is named, or take it out. `--kubelet-registration-path` is required; `--remove-startup-taint` and " +
    "`--node-condition` need the variable `NODE_NAME` from `spec.nodeName`.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, unseen, settings, mayKnowNodeName }) => {
      if (unseen !== undefined) return unknown(place, unseen.why, unseen.advice);
      if (settings.refusal !== undefined)
        return problem(place, `does not start: ${settings.refusal.problem}`, settings.refusal.advice);
      if (settings.needsNodeName && !mayKnowNodeName)
        return problem(
          place,
          "does not start: --remove-startup-taint and --node-condition need the node's name",
          NODE_NAME_ENTRY,
        );
      if (settings.kubeletRegistrationPath === "")
        return problem(
          place,
          "does not start: kubelet-registration-path is a required parameter",
          "add --kubelet-registration-path: the driver's socket as the host has it",
        );
      return settings.doubt === undefined
        ? ok(place, "has arguments with which the registrar starts")
        : unknown(place, `starts or not: ${settings.doubt}`);
    }),
};
