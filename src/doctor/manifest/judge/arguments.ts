import { isPattern } from "../../../host-path/path-pattern";
import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { NODE_NAME_VARIABLES } from "../../../node-readiness/options";
import { placeInChart } from "../read/charts";
import type { Deployment } from "../read/deployments";
import { itemsOf } from "../read/program";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

/** The words that YAML reads as a number or a boolean because they have no quotes, and a text in the place of a list. */
function judgeTypes({ source: { container } }: Deployment): readonly Statement[] {
  const { command, args, env } = container;
  const refused = (value: unknown, where: string, what: string, fix: string) =>
    problem(
      `has ${boundText(JSON.stringify(value))} ${where}, which is not a ${what}: the API server refuses it`,
      fix,
    );
  const words = [
    ...Object.entries({ command, args }).flatMap(([name, values]) =>
      itemsOf(values).map((value) => ({ value, where: `in ${name}` })),
    ),
    ...list(env)
      .map(tree)
      .map(({ name, value }) => ({ value, where: `as value of ${text(name)}` })),
  ];
  return [
    ...Object.entries({ command, args }).flatMap(([name, value]) =>
      typeof value === "string"
        ? [refused(value, `as ${name}`, "list", "write a list with an item for each argument")]
        : [],
    ),
    ...words.flatMap(({ value, where }) =>
      typeof value === "string" || value === null || value === undefined
        ? []
        : [refused(value, where, "string", `quote it: ${JSON.stringify(boundText(JSON.stringify(value)))}`)],
    ),
  ];
}

const NODE_NAME_ENTRY =
  "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

export const manifestArguments = eachDeployment("CSI101", "manifest-arguments", (one) => {
  const found = [...judgeTypes(one), ...judgeJoined(one), ...judgeInit(one), ...judgePatterns(one)];
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

/** Kubelet starts the other containers beside an init container that always restarts. */
function judgeInit({ source: { pod, container }, settings }: Deployment): readonly Statement[] {
  const isPlain = list(pod.initContainers).includes(container) && container.restartPolicy !== "Always";
  if (!isPlain || settings.task !== "register") return [];
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

function judge({ program, unseen, settings, literals, chart, source }: Deployment): Statement {
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
  if (settings.needsNodeName && !mayKnowNodeName(source.container))
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

/** The environment has the node's name, or is partly defined elsewhere. */
function mayKnowNodeName({ env, envFrom }: Tree): boolean {
  const names = list(env)
    .map(tree)
    .filter(({ value, valueFrom }) => valueFrom !== undefined || text(value) !== "")
    .map(({ name }) => text(name));
  return list(envFrom).length > 0 || NODE_NAME_VARIABLES.some((name) => names.includes(name));
}
