import { boundText } from "../../../../logging/escape";
import { LEAST } from "../../../manifest/image-policy/changes";
import { flat } from "../../findings/finding";
import { isTemplate, RENDER_FIRST } from "../../findings/words";
import { amountOf, type LimitedResource, limitsOn } from "../read/limits";
import type { ProbeFacts } from "../read/probes";
import type { RegistrarContainer } from "../read/registrars";
import { eachRegistrar, problem, type Statement, unknown, warning } from "./each-registrar";

/** What fixes propose, and what they ask for at least. */
const ENOUGH = { memory: "100Mi", cpu: "200m" };
const ASKED = { memory: LEAST.memory, cpu: ENOUGH.cpu };

interface Bound {
  readonly most: string;
  readonly amount: number;
}

/** Whether a limit bounds an amount: one of 0 bounds nothing. */
const isBelow = (limit: string, amount: string) => amountOf(limit) > 0 && amountOf(limit) < amountOf(amount);

/** Judges the least of the limits on a container. */
const limitCheck = (
  code: string,
  resource: LimitedResource,
  judgeBound: (bound: Bound, one: RegistrarContainer) => Statement | undefined,
) =>
  eachRegistrar(code, `manifest-${resource}`, (one, facts) => {
    const { bounds, maxima } = limitsOn(one, facts, resource);
    const known = bounds.flatMap(({ amount = 0, ...bound }) => (amount > 0 ? { ...bound, amount } : []));
    const [least] = known.sort((a, b) => a.amount - b.amount);
    const found = least && judgeBound(least, one);
    if (found) {
      // With the limit itself, a fix raises whatever else has too little room for it.
      const asked = ASKED[resource];
      const small = [...known, ...maxima].filter(
        ({ raise, most }) => raise !== undefined && isBelow(most, asked),
      );
      const raised = [...new Set(small.map(({ raise }) => `raise ${raise} to ${asked} at least`))];
      const fix = [...(least.raise === undefined && found.fix ? [found.fix] : []), ...raised].join("; ");
      return { ...found, text: `${least.what}: ${found.text}`, fix };
    }
    const unread = bounds.find(({ amount }) => amount === undefined);
    if (one.program.kind !== "ours" || unread === undefined) return undefined;
    const fix = isTemplate(unread.most) ? RENDER_FIRST : `write ${ENOUGH[resource]}, for example`;
    return { ...unknown(`${boundText(unread.what)}, which is not a quantity`, fix), isUnread: true };
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

export const limitChecks = [manifestMemory, manifestCpu];
