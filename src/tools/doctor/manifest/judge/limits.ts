import { list, text, tree } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import { LEAST } from "../../../manifest/image-policy/changes";
import { flat } from "../../findings/finding";
import { isTemplate, RENDER_FIRST } from "../../findings/words";
import type { Deployment } from "../read/deployments";
import { amountOf, exceeds, type Limits, limitIn, limitsOn, quantityOf } from "../read/limits";
import type { ProbeFacts } from "../read/probes";
import { eachDeployment, problem, type Statement, unknown, warning } from "./each-deployment";

type Resource = Limits["resource"];
type Bound = Limits["bounds"][number];
const NAMES = { memory: "memory", cpu: "CPU" };
/** What fixes propose, and what they ask for at least. */
const ENOUGH = { memory: "100Mi", cpu: "200m" };
const ASKED = { memory: LEAST.memory, cpu: ENOUGH.cpu };

/** Judges the least of the limits on a container, unless the API server refuses one whatever the program. */
const limitCheck = (
  code: string,
  resource: Resource,
  judgeBound: (bound: Bound, one: Deployment) => Statement | undefined,
) =>
  eachDeployment(code, `manifest-${resource}`, (one, facts) => {
    const limits = limitsOn(one, facts, resource);
    const refused = judgeRefused(limits);
    if (refused !== undefined) return refused;
    const [bound] = limits.bounds.filter(({ amount }) => amount > 0).sort((a, b) => a.amount - b.amount);
    const found = bound && judgeBound(bound, one);
    if (found)
      return {
        ...found,
        text: `${textOf(resource, bound)}: ${found.text}`,
        fix: fixOf(limits, bound, found.fix),
      };
    const template = limits.bounds.find(({ most }) => isTemplate(most));
    if (one.program.kind !== "ours" || template === undefined) return undefined;
    const what = `${boundText(textOf(resource, template))}, which is a template`;
    return { ...unknown(what, RENDER_FIRST), isUnread: true };
  });

const manifestMemory = limitCheck("CSI105", "memory", ({ most, amount }, { program }) => {
  if (/m\s*$/.test(most) && amount < 1024)
    return problem("m is a thousandth of a byte", "write Mi or M in place of m");
  // The least limit with which Node starts when its pages are not in the page cache.
  return program.kind === "ours" && amount < amountOf(LEAST.memory)
    ? problem(
        "Node.js may hang while loading after a reboot",
        `set resources.limits.memory: ${ENOUGH.memory}, at least ${LEAST.memory}`,
      )
    : undefined;
});

/** Seconds of CPU at least and at most: without Node's pages in the page cache, more. See docs/measurements.md. */
const EXEC_PROBE = { least: 0.08, most: 0.16 };
const START = { least: 0.1, most: 0.25 };
/** Kubelet's pace: shorter delays do not tell. */
const LEAST_PATIENCE_S = 1;

const RAISE = `set resources.limits.cpu: ${ENOUGH.cpu} at least`;

const manifestCpu = limitCheck("CSI114", "cpu", ({ amount }, { program, probes }) => {
  if (program.kind !== "ours") return undefined;
  const found = flat([judgeStart(amount, probes), probes.map((probe) => judgeProbe(amount, probe))]);
  return found.find(({ status }) => status === "problem") ?? found.at(-1);
});

/** An exec probe that runs the registrar is a Node process, which shares the container's limit. */
function judgeProbe(cpus: number, { kind, settings, timing }: ProbeFacts): Statement | undefined {
  const { timeoutSeconds } = timing;
  if (settings === undefined || EXEC_PROBE.most / cpus <= timeoutSeconds) return undefined;
  const takes = `an exec probe takes ${range(EXEC_PROBE, cpus)}, and the ${kind} has timeoutSeconds: ${timeoutSeconds}`;
  const fix =
    cpus < amountOf(LEAST.cpu) ? RAISE : `${RAISE}, or set timeoutSeconds: ${LEAST.probeTimeoutSeconds}`;
  return EXEC_PROBE.least / cpus > timeoutSeconds
    ? problem(takes, fix)
    : warning(`${takes}; it may fail`, fix);
}

/** Until a startup probe has succeeded, kubelet asks no other probe. */
function judgeStart(cpus: number, probes: readonly ProbeFacts[]): Statement | undefined {
  const probeOf = (wanted: ProbeFacts["kind"]) => probes.find(({ kind }) => kind === wanted);
  const probe = probeOf("startupProbe") ?? probeOf("livenessProbe");
  const patience = probe === undefined ? Number.POSITIVE_INFINITY : patienceOf(probe);
  const starts = `it starts in ${range(START, cpus)}`;
  const text = probe === undefined ? starts : `${starts}, and the ${probe.kind} waits ${patience} s`;
  const least = START.least / cpus;
  if (least > LEAST_PATIENCE_S && least >= patience) return problem(text, RAISE);
  // With so little, a start takes seconds also without probes, and an exec probe may fail whatever its timeoutSeconds.
  return cpus < amountOf(LEAST.cpu) ? warning(text, RAISE) : undefined;
}

/** How long kubelet lets a probe fail before it ends the container, in seconds. */
const patienceOf = ({ timing: { initialDelaySeconds, failureThreshold, periodSeconds } }: ProbeFacts) =>
  initialDelaySeconds + (failureThreshold - 1) * periodSeconds;

function range({ least, most }: typeof START, cpus: number): string {
  return `${(least / cpus).toFixed(1)} to ${(most / cpus).toFixed(1)} s`;
}

const textOf = (resource: Resource, { lead, of, most }: Bound): string =>
  `${lead} a ${NAMES[resource]} limit of ${most}${lead === "gets" ? ` from ${of}` : ""}`;

/** With the limit itself, a fix raises whatever else has too little room for it. */
function fixOf(limits: Limits, bound: Bound, own = ""): string {
  const { one, resource, ofPod, request, ranges, podRanges } = limits;
  const { pod, container } = one.source;
  const asked = amountOf(ASKED[resource]);
  const isOwn = bound.most === limits.own;
  const requested = amountOf(request) > 0 ? request : bound.most;
  const others = list(pod.containers).filter((other) => other !== container);
  const ofAll = others.reduce<number>((sum, other) => sum + amountOf(limitIn(tree(other), resource)), asked);
  const shown = (amount: number) =>
    resource === "cpu" ? `${Math.ceil(amount * 1000 - 1e-6)}m` : `${Math.ceil(amount / 2 ** 20)}Mi`;
  const raise = (what: string, has: string, needed = asked) =>
    exceeds(needed, has) ? `raise ${what} to ${shown(needed)} at least` : "";
  const fixes = [
    isOwn ? own : "",
    raise("the limit of its pod", ofPod),
    ...ranges.flatMap(({ of, most, given, ratio }) => [
      raise(`default in ${of}`, isOwn ? "" : given),
      raise(`max in ${of}`, most),
      ratio && raise(`the request, for maxLimitRequestRatio in ${of},`, requested, asked / amountOf(ratio)),
    ]),
    ...podRanges.map(({ of, most }) => raise(`max of a pod in ${of}`, most, ofAll)),
  ];
  return fixes.filter(Boolean).join("; ");
}

/** A limit or request that the API server takes from no program. */
function judgeRefused({ one, resource, own, request, ranges, bounds }: Limits): Statement | undefined {
  const refused = (text: string, fix: string) => problem(`${text}: the API server refuses it`, fix);
  const { limits } = tree(one.source.container.resources);
  if (limits !== undefined && limits !== null && tree(limits) !== limits && !isTemplate(text(limits)))
    return resource === "memory"
      ? refused(
          `has resources.limits ${boundText(JSON.stringify(limits))}, which is not a map`,
          `write {memory: ${ENOUGH.memory}}, for example`,
        )
      : undefined;
  const judge = (what: string, value: string) => {
    if (isTemplate(value)) return undefined;
    const has = `has a ${NAMES[resource]} ${what} of`;
    const amount = quantityOf(value) ?? -1;
    if (amount < 0)
      return refused(
        `${has} ${boundText(JSON.stringify(value))}, which is not a quantity of 0 or more`,
        `write ${ENOUGH[resource]}, for example`,
      );
    const low = ranges.find(({ least }) => amount > 0 && amount < amountOf(least));
    if (low) return refused(`${has} ${value}, and ${low.of} has min ${low.least}`, `raise it`);
    const high = [...bounds, ...ranges].find(({ most }) => exceeds(amount, most));
    const fix = `lower the ${what}, or raise that limit`;
    return high && refused(`${has} ${value}, and ${high.of} allows ${high.most}`, fix);
  };
  const wrong = ranges.find(({ most, byDefault }) => exceeds(amountOf(byDefault), most));
  return (
    judge("limit", own) ??
    (wrong &&
      refused(`is in the namespace of ${wrong.of}: its default is above its max`, "raise that max")) ??
    judge("request", request)
  );
}

export const limitChecks = [manifestMemory, manifestCpu];
