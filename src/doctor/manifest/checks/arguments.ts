import { type Check, ok, problem, unknown, type Verdict, warning } from "../../findings/finding";
import type { Deployment, ManifestFacts } from "../deployment";
import { fillIn } from "../read-program";

const NODE_NAME_ENTRY =
  "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

export const manifestArguments: Check<ManifestFacts> = {
  code: "CSI101",
  name: "manifest-arguments",
  verdicts: ({ deployments }) =>
    deployments.map((one) => {
      const quoted = one.noTexts.map(({ value, where }) =>
        problem(
          one.place,
          `has ${value} ${where}, which is not a string: the API server refuses it`,
          `quote it: ${JSON.stringify(value)}`,
        ),
      );
      const judged = judge(one);
      return quoted.length > 0 && judged.status === "ok" ? quoted : [...quoted, judged];
    }),
};

function judge({ place, unseen, settings, literals, mayKnowNodeName }: Deployment): Verdict {
  const { refusal, ignored, doubt } = settings;
  if (unseen !== undefined) return unknown(place, unseen.why, unseen.advice);
  if (refusal !== undefined) {
    const literal = literals.find(({ name }) => refusal.problem.includes(`$(${name})`));
    return problem(place, `does not start: ${refusal.problem}`, literal ? fillIn(literal) : refusal.advice);
  }
  const allIgnored = ignored && `all from the word ${ignored.words[0]} on`;
  if (settings.kubeletRegistrationPath === "") {
    const text = "does not start: kubelet-registration-path is a required parameter";
    return allIgnored !== undefined &&
      ignored?.words.some((word) => /^--?kubelet-registration-path(?:=|$)/.test(word))
      ? problem(place, `${text}, and ${allIgnored} is ignored`, ignored.advice)
      : problem(place, text, "add --kubelet-registration-path: the driver's socket as the host has it");
  }
  if (settings.needsNodeName && !mayKnowNodeName)
    return problem(
      place,
      "does not start: --remove-startup-taint and --node-condition need the node's name",
      NODE_NAME_ENTRY,
    );
  if (ignored !== undefined)
    return warning(place, `ignores ${allIgnored}: ${ignored.words.join(" ")}`, ignored.advice);
  return doubt === undefined
    ? ok(place, "has arguments with which the registrar starts")
    : unknown(place, `starts or not: ${doubt}`);
}
