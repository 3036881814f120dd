import { LEAST } from "../../../manifest/least";
import { fixInChart } from "../read/charts";
import type { ProbeFacts } from "../read/probes";
import { eachDeployment, problem, type Statement, warning } from "./each-deployment";
import { boundOn, judgeAutoscaler, judgeLimit } from "./limits";
import { quantityOf } from "./quantity";

/** Seconds of CPU at least and at most: without Node's pages in the page cache, more. See docs/measurements.md. */
const EXEC_PROBE = { least: 0.08, most: 0.16 };
const START = { least: 0.1, most: 0.25 };
/** With less, even a start without probes takes seconds, and an exec probe may fail whatever its timeoutSeconds. */
const LEAST_CPUS = quantityOf(LEAST.cpu) ?? 0;
/** Kubelet's pace: shorter delays do not tell. */
const LEAST_PATIENCE_S = 1;

const RAISE = "take resources.limits.cpu off, or set it to 200m at least";
const RESTARTS = "kubelet restarts the container for ever";
const THEN: Readonly<Record<ProbeFacts["kind"], string>> = {
  livenessProbe: RESTARTS,
  readinessProbe: "the pod never gets ready",
  startupProbe: RESTARTS,
};

export const manifestCpu = eachDeployment("CSI114", "manifest-cpu", (one, facts) => {
  const refused = judgeLimit(one, facts, "cpu", "200m");
  if (refused !== undefined || one.program.kind !== "ours") return refused;
  const bound = boundOn(one, facts, "cpu");
  if (bound === undefined) return undefined;
  const { amount: cpus, raise } = bound;
  const judged = [judgeStart(cpus, one.probes), ...one.probes.map((probe) => judgeProbe(cpus, probe))];
  const found = judged.filter((statement) => statement !== undefined);
  if (found.length === 0 && cpus < LEAST_CPUS)
    found.push(warning(`it registers after ${range(START, cpus)}`, RAISE));
  if (found.length === 0) return judgeAutoscaler(one, facts, "cpu", LEAST.cpu);
  return found.map((statement) => ({
    ...statement,
    text: `${bound.text}: ${statement.text}`,
    fix:
      raise === undefined
        ? fixInChart(one.chart, "resources", statement.fix ?? "")
        : `raise ${raise} to 200m at least`,
  }));
});

/** An exec probe that runs the registrar is a Node process, which shares the container's limit. */
function judgeProbe(cpus: number, { kind, asks, settings, timing }: ProbeFacts): Statement | undefined {
  if (asks !== "exec" || settings === undefined) return undefined;
  const { timeoutSeconds, periodSeconds } = timing;
  const [least, most] = [EXEC_PROBE.least / cpus, EXEC_PROBE.most / cpus];
  const takes = `an exec probe takes ${range(EXEC_PROBE, cpus)}, and the ${kind} has`;
  const fix =
    cpus < LEAST_CPUS ? RAISE : `${RAISE}, or set timeoutSeconds: ${LEAST.probeTimeoutSeconds} in the probe`;
  if (least > timeoutSeconds)
    return problem(`${takes} timeoutSeconds: ${timeoutSeconds}; ${THEN[kind]}`, fix);
  if (least > periodSeconds)
    return problem(`${takes} periodSeconds: ${periodSeconds}; that leaves the registrar nothing`, RAISE);
  return most > timeoutSeconds
    ? warning(`${takes} timeoutSeconds: ${timeoutSeconds}; it may fail`, fix)
    : undefined;
}

/** Until a startup probe has succeeded, kubelet asks no other probe. */
function judgeStart(cpus: number, probes: readonly ProbeFacts[]): Statement | undefined {
  const probeOf = (wanted: ProbeFacts["kind"]) => probes.find(({ kind }) => kind === wanted);
  const probe = probeOf("startupProbe") ?? probeOf("livenessProbe");
  if (probe === undefined) return undefined;
  const { initialDelaySeconds, periodSeconds, failureThreshold } = probe.timing;
  const patience = initialDelaySeconds + (failureThreshold - 1) * periodSeconds;
  return START.least / cpus > Math.max(LEAST_PATIENCE_S, patience)
    ? problem(
        `it starts in ${range(START, cpus)}, and the ${probe.kind} waits ${patience} s; ${RESTARTS}`,
        RAISE,
      )
    : undefined;
}

function range({ least, most }: { readonly least: number; readonly most: number }, cpus: number): string {
  return `${(least / cpus).toFixed(1)} to ${(most / cpus).toFixed(1)} s`;
}
