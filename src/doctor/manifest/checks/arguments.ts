import { isPattern } from "../../../host-path/path-pattern";
import { placeInChart } from "../charts";
import type { Deployment } from "../read-deployments";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

const NODE_NAME_ENTRY =
  "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

export const manifestArguments = eachDeployment("CSI101", "manifest-arguments", (one) => {
  const quoted = one.noTexts.map(({ value, where }) =>
    problem(
      `has ${value} ${where}, which is not a string: the API server refuses it`,
      `quote it: ${JSON.stringify(value)}`,
    ),
  );
  const found = [...quoted, ...judgePatterns(one)];
  const judged = judge(one);
  return found.length > 0 && judged.status === "ok" ? found : [...found, judged];
});

/** The official registrar dials the path as it is written, and ends when no driver answers or kubelet refuses the path. */
function judgePatterns({ program, unseen, settings }: Deployment): readonly Statement[] {
  if (program.kind !== "official" || unseen !== undefined) return [];
  const { csiAddress, kubeletRegistrationPath } = settings;
  const flags = [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${kubeletRegistrationPath}`];
  const patterns = flags.filter(isPattern);
  return patterns.length === 0
    ? []
    : [
        problem(
          `restarts for ever: to the official registrar * is no pattern: ${patterns.join(" ")}`,
          "write the paths of one driver, or use this registrar's image",
        ),
      ];
}

function judge({ program, unseen, settings, literals, mayKnowNodeName, chart }: Deployment): Statement {
  const { refusal, ignored, doubt } = settings;
  if (unseen !== undefined) return unknown(unseen.why, unseen.advice);
  if (program.kind === "unknown")
    return unknown(
      `runs an unknown program: ${program.why}`,
      "if it is this registrar's, give it with --image",
    );
  if (refusal !== undefined) {
    const literal = literals.find(({ name }) => refusal.problem.includes(`$(${name})`));
    const advice = `${(literal ?? refusal).advice}${placeInChart(chart, "arguments")}`;
    return problem(`does not start: ${refusal.problem}`, advice);
  }
  const allIgnored = ignored && `all from the word ${ignored.words[0]} on`;
  if (settings.kubeletRegistrationPath === "") {
    const text = "does not start: kubelet-registration-path is a required parameter";
    return ignored?.words.some((word) => /^--?kubelet-registration-path(?:=|$)/.test(word))
      ? problem(`${text}, and ${allIgnored} is ignored`, ignored.advice)
      : problem(text, "add --kubelet-registration-path: the driver's socket as the host has it");
  }
  if (settings.needsNodeName && !mayKnowNodeName)
    return problem(
      "does not start: --remove-startup-taint and --node-condition need the node's name",
      NODE_NAME_ENTRY,
    );
  if (ignored !== undefined)
    return warning(`ignores ${allIgnored}: ${ignored.words.join(" ")}`, ignored.advice);
  return doubt === undefined
    ? ok("has arguments with which the registrar starts")
    : unknown(`starts or not: ${doubt}`);
}
