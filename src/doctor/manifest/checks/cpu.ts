import { quantityOf } from "../quantity";
import type { ProbeFacts } from "../read-probes";
import { eachDeployment, problem, type Statement, warning } from "./each-deployment";

/** Seconds of CPU, with Node's pages in the page cache and without them: docs/measurements.md has the figures. */
const EXEC_PROBE = { warm: 0.08, cold: 0.16 };
const START = { warm: 0.1, cold: 0.25 };
/** With less, even a start without probes takes seconds. */
const SMALL_CPUS = 0.05;

const THEN: Readonly<Record<ProbeFacts["kind"], string>> = {
  livenessProbe: "kubelet restarts the container for ever",
  readinessProbe: "the pod never gets ready",
  startupProbe: "kubelet restarts the container for ever",
};
const RAISE = "take resources.limits.cpu off, or set it to 200m at least";

/** An exec probe of this registrar is a Node process, which shares the container's limit. */
export const manifestCpu = eachDeployment("CSI114", "manifest-cpu", ({ program, cpuLimit, probes }) => {
  const cpus = quantityOf(cpuLimit);
  if (program.kind !== "ours" || !cpus) return undefined;
  const found = [judgeStart(cpus, probes), ...probes.map((probe) => judgeProbe(cpus, probe))].filter(
    (statement) => statement !== undefined,
  );
  if (found.length > 0 || cpus > SMALL_CPUS)
    return found.map(({ text, ...rest }) => ({ ...rest, text: `has a CPU limit of ${cpuLimit}, ${text}` }));
  const times = `${seconds(START.warm / cpus)}, after a reboot ${seconds(START.cold / cpus)}`;
  return warning(`has a CPU limit of ${cpuLimit}: it registers its driver only after ${times}`, RAISE);
});

function judgeProbe(cpus: number, { kind, asks, settings, timing }: ProbeFacts): Statement | undefined {
  if (asks !== "exec" || settings === undefined) return undefined;
  const { timeoutSeconds, periodSeconds } = timing;
  const [warm, cold] = [EXEC_PROBE.warm / cpus, EXEC_PROBE.cold / cpus];
  const allowed = `and its timeoutSeconds is ${timeoutSeconds}`;
  const longer = `${RAISE}, or set timeoutSeconds: 10 in the probe`;
  if (warm > periodSeconds)
    return problem(
      `all of which its ${kind} needs: an exec probe takes ${seconds(warm)}, and its periodSeconds is ${periodSeconds}`,
      RAISE,
    );
  if (warm > timeoutSeconds)
    return problem(
      `with which an exec probe takes ${seconds(warm)}, ${allowed}: ${THEN[kind]} (${kind})`,
      longer,
    );
  if (cold > timeoutSeconds)
    return warning(
      `with which an exec probe takes up to ${seconds(cold)}, ${allowed}: it may fail (${kind})`,
      longer,
    );
  return undefined;
}

/** The first of the liveness probes that count would end the container before it listens. */
function judgeStart(cpus: number, probes: readonly ProbeFacts[]): Statement | undefined {
  const probe =
    probes.find(({ kind }) => kind === "startupProbe") ?? probes.find(({ kind }) => kind === "livenessProbe");
  if (probe === undefined) return undefined;
  const { initialDelaySeconds, periodSeconds, failureThreshold } = probe.timing;
  const patience = initialDelaySeconds + (failureThreshold - 1) * periodSeconds;
  return START.warm / cpus > patience
    ? problem(
        `with which it listens after ${seconds(START.warm / cpus)}, and its ${probe.kind} gives it ${patience} s: ${THEN[probe.kind]}`,
        RAISE,
      )
    : undefined;
}

/** At least one digit that is not 0. */
function seconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;
}
