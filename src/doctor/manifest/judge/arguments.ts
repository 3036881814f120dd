import { isPattern } from "../../../host-path/path-pattern";
import { boundText } from "../../../logging/escape";
import { placeInChart } from "../read/charts";
import type { Deployment } from "../read/deployments";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

const NODE_NAME_ENTRY =
  "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

export const manifestArguments = eachDeployment("CSI101", "manifest-arguments", (one) => {
  const quoted = one.noTexts.map(({ value, where, what }) =>
    problem(
      `has ${value} ${where}, which is not a ${what}: the API server refuses it`,
      what === "list" ? "write a list with an item for each argument" : `quote it: ${JSON.stringify(value)}`,
    ),
  );
  const found = [...quoted, ...judgeJoined(one), ...judgeInit(one), ...judgePatterns(one)];
  const judged = judge(one);
  // What one text of several arguments lacks may be in it.
  const isMoot = judged.status === "ok" || joinedIn(one) !== undefined;
  return found.length > 0 && isMoot ? found : [...found, judged];
});

/** `--a=b --c=d` in one item, which Go and this registrar read as the flag `a`. */
const joinedIn = ({ args, unseen }: Deployment) =>
  unseen === undefined
    ? args.find((word) => /^--?[a-z][\w-]*\S*\s+--?[a-z][\w-]*/.test(word.trim()))
    : undefined;

function judgeJoined(one: Deployment): readonly Statement[] {
  const joined = joinedIn(one);
  if (joined === undefined) return [];
  const text = `has several arguments in one item: ${boundText(joined.trim())}`;
  return [problem(text, `write each as an item of its own${placeInChart(one.chart, "arguments")}`)];
}

function judgeInit({ isInit, settings }: Deployment): readonly Statement[] {
  if (!isInit || settings.task !== "register") return [];
  return [
    problem(
      "is an init container, and never ends: the containers of its pod never start",
      "move it to containers, or give it restartPolicy: Always",
    ),
  ];
}

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
