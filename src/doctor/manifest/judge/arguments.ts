import { isPattern } from "../../../host-path/path-pattern";
import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { NODE_NAME_VARIABLES } from "../../../node-readiness/options";
import { flat, type Nested } from "../../findings/finding";
import { placeInChart } from "../read/charts";
import type { Deployment } from "../read/deployments";
import { itemsOf } from "../read/program";
import { eachDeployment, ok, problem, type Statement, unknown, warning } from "./each-deployment";

const NEEDS_NODE_NAME = "does not start: --remove-startup-taint and --node-condition need the node's name";
const NODE_NAME_ENTRY =
  "add to its env: {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}";

export const manifestArguments = eachDeployment("CSI101", "manifest-arguments", (one) => {
  const found = flat([judgeTypes(one), judgeJoined(one), judgeInit(one), judgePatterns(one)]);
  const judged = judgeStart(one);
  // What one text of several arguments lacks may be in it.
  const isMoot = judged.status === "ok" || joinedIn(one) !== undefined;
  return found.length > 0 && isMoot ? found : [found, judged];
});

/** YAML reads a number or a boolean where quotes are missing; and people write a text in the place of a list. */
function judgeTypes({ source: { container } }: Deployment): Nested<Statement> {
  const refused = (value: unknown, where: string, what: string, fix: string) =>
    problem(
      `has ${boundText(JSON.stringify(value))} ${where}, which is not a ${what}: the API server refuses it`,
      fix,
    );
  const judgeWord = (value: unknown, where: string) =>
    typeof value === "string" || value === null || value === undefined
      ? undefined
      : refused(value, where, "string", `quote it: ${JSON.stringify(boundText(JSON.stringify(value)))}`);
  const { command, args } = container;
  const lists = Object.entries({ command, args });
  return [
    lists.map(([name, value]) =>
      typeof value === "string"
        ? refused(value, `as ${name}`, "list", "write a list with an item for each argument")
        : undefined,
    ),
    lists.map(([name, values]) => itemsOf(values).map((value) => judgeWord(value, `in ${name}`))),
    list(container.env).map((one) => judgeWord(tree(one).value, `as value of ${text(tree(one).name)}`)),
  ];
}

/** `--a=b --c=d` in one item, which Go and this registrar read as the flag `a`. */
export const joinedIn = ({ args, unseen, program }: Deployment) =>
  unseen !== undefined || program.kind === "unknown"
    ? undefined
    : args.find((word) => /^--?[a-z][\w-]*\S*\s+--?[a-z][\w-]*/.test(word.trim()));

function judgeJoined(one: Deployment): Statement | undefined {
  const joined = joinedIn(one);
  if (joined === undefined) return undefined;
  const text = `has several arguments in one item: ${boundText(joined.trim())}`;
  return problem(text, `write each as an item of its own${placeInChart(one.chart, "arguments")}`);
}

/** Kubelet starts the other containers beside an init container that always restarts. */
function judgeInit({ source: { pod, container }, settings, program }: Deployment): Statement | undefined {
  const isPlain = list(pod.initContainers).includes(container) && container.restartPolicy !== "Always";
  if (!isPlain || settings.task !== "register" || program.kind === "unknown") return undefined;
  const text = "is an init container, and never ends: the containers of its pod never start";
  return problem(text, "move it to containers, or give it restartPolicy: Always");
}

/** The official registrar dials the path as it is written, and ends when no driver answers or kubelet refuses the path. */
function judgePatterns({ program, unseen, settings }: Deployment): Statement | undefined {
  const { csiAddress, kubeletRegistrationPath } = settings;
  const flags = [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${kubeletRegistrationPath}`];
  const patterns = flags.filter(isPattern);
  if (program.kind !== "official" || unseen !== undefined || patterns.length === 0) return undefined;
  const text = `restarts for ever: to the official registrar * is not a pattern: ${patterns.join(" ")}`;
  return problem(text, "write the paths of one driver, or use this registrar's image");
}

function judgeStart({ program, unseen, settings, literals, chart, source }: Deployment): Statement {
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
    return problem(NEEDS_NODE_NAME, NODE_NAME_ENTRY);
  if (ignored !== undefined)
    return warning(`ignores ${allIgnored}: ${ignored.words.join(" ")}`, ignored.advice);
  return doubt === undefined
    ? ok("has arguments with which the registrar starts")
    : unknown(`starts or not: ${doubt}`, "take the flag out, or name an image with a release");
}

/** The environment has the node's name, or is partly defined elsewhere. */
function mayKnowNodeName({ env, envFrom }: Tree): boolean {
  const names = list(env)
    .map(tree)
    .filter(({ value, valueFrom }) => valueFrom !== undefined || text(value) !== "")
    .map(({ name }) => text(name));
  return list(envFrom).length > 0 || NODE_NAME_VARIABLES.some((name) => names.includes(name));
}
