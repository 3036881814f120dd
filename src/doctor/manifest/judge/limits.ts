import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { LEAST } from "../../../manifest/least";
import { isTemplate } from "../../rules/words";
import { fixInChart, placeInChart } from "../read/charts";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { nameOf } from "../read/objects";
import type { ProbeFacts } from "../read/probes";
import { eachDeployment, problem, type Statement, warning } from "./each-deployment";

type Resource = "memory" | "cpu";
const NAMES: Readonly<Record<Resource, string>> = { memory: "memory", cpu: "CPU" };

export const manifestMemory = eachDeployment("CSI105", "manifest-memory", (one, facts) => {
  const { limits } = tree(one.source.container.resources);
  const isMap = typeof (limits ?? {}) === "object" && !Array.isArray(limits);
  if (!isMap && !isTemplate(JSON.stringify(limits)))
    return problem(
      `has resources.limits ${boundText(JSON.stringify(limits))}, which is not a map: the API server refuses it`,
      `write resources.limits: {memory: 100Mi}, for example${placeInChart(one.chart, "resources")}`,
    );
  const refused = judgeLimit(one, facts, "memory", "100Mi");
  if (refused !== undefined || one.program.kind !== "ours") return refused;
  const bound = boundOn(one, facts, "memory");
  // The least limit with which Node starts when its pages are not in the page cache.
  if (bound === undefined || bound.amount >= amountOf(LEAST.memory))
    return judgeAutoscaler(one, facts, "memory");
  const enough = `100Mi, at least ${LEAST.memory}`;
  return problem(
    `${bound.text}: it may never get ready after a reboot`,
    bound.raise === undefined
      ? fixInChart(one.chart, "resources", `set resources.limits.memory: ${enough}`)
      : `raise ${bound.raise} to ${enough}`,
  );
});

/** Seconds of CPU at least and at most: without Node's pages in the page cache, more. See docs/measurements.md. */
const EXEC_PROBE = { least: 0.08, most: 0.16 };
const START = { least: 0.1, most: 0.25 };
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
  const found = [judgeStart(cpus, one.probes), ...one.probes.map((probe) => judgeProbe(cpus, probe))].filter(
    (statement) => statement !== undefined,
  );
  // With less, even a start without probes takes seconds, and an exec probe may fail whatever its timeoutSeconds.
  if (found.length === 0 && cpus < amountOf(LEAST.cpu))
    found.push(warning(`it registers after ${range(START, cpus)}`, RAISE));
  if (found.length === 0) return judgeAutoscaler(one, facts, "cpu");
  return found.map(({ status, text, fix = "" }) => ({
    status,
    text: `${bound.text}: ${text}`,
    fix: raise === undefined ? fixInChart(one.chart, "resources", fix) : `raise ${raise} to 200m at least`,
  }));
});

/** An exec probe that runs the registrar is a Node process, which shares the container's limit. */
function judgeProbe(cpus: number, { kind, asks, settings, timing }: ProbeFacts): Statement | undefined {
  if (asks !== "exec" || settings === undefined) return undefined;
  const { timeoutSeconds, periodSeconds } = timing;
  const [least, most] = [EXEC_PROBE.least / cpus, EXEC_PROBE.most / cpus];
  const takes = `an exec probe takes ${range(EXEC_PROBE, cpus)}, and the ${kind} has`;
  const isTooLittle = cpus < amountOf(LEAST.cpu);
  const fix = isTooLittle
    ? RAISE
    : `${RAISE}, or set timeoutSeconds: ${LEAST.probeTimeoutSeconds} in the probe`;
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
  if (START.least / cpus <= Math.max(LEAST_PATIENCE_S, patience)) return undefined;
  const text = `it starts in ${range(START, cpus)}, and the ${probe.kind} waits ${patience} s; ${RESTARTS}`;
  return problem(text, RAISE);
}

function range({ least, most }: typeof START, cpus: number): string {
  return `${(least / cpus).toFixed(1)} to ${(most / cpus).toFixed(1)} s`;
}

/** A limit of a container or a pod; `0` where there is none, which means the same. */
const limitIn = ({ resources }: Tree, resource: Resource) =>
  text(tree(tree(resources).limits)[resource] ?? "0");

/** What LimitRanges say of containers in a registrar's namespace. */
function rangesOf({ object }: Deployment, { limitObjects }: ManifestFacts, resource: Resource) {
  return limitObjects
    .filter(({ kind, metadata }) => {
      const { namespace = "default" } = tree(metadata);
      return kind === "LimitRange" && namespace === (object.namespace ?? "default");
    })
    .flatMap((range) =>
      list(tree(range.spec).limits).map((item) => ({ name: `LimitRange ${nameOf(range)}`, ...tree(item) })),
    )
    .filter(({ type }: Tree) => type === "Container")
    .map(({ name, max, default: byDefault }: Tree & { name: string }) => {
      const most = text(tree(max)[resource]);
      // The API server takes the maximum for a default that is missing.
      return { name, most, byDefault: text(tree(byDefault)[resource]) || most };
    });
}

/** The least of the limits on a registrar: its own, or its namespace's default, and its pod's. */
function boundOn(one: Deployment, facts: ManifestFacts, resource: Resource) {
  const what = `${NAMES[resource]} limit of`;
  const { container, pod } = one.source;
  const [own, ofPod] = [limitIn(container, resource), limitIn(pod, resource)];
  const given = own === "0" ? rangesOf(one, facts, resource) : [];
  return [
    { limit: own, text: `has a ${what} ${own}`, raise: undefined },
    { limit: ofPod, text: `is in a pod with a ${what} ${ofPod}`, raise: "that limit" },
    ...given.map(({ name, byDefault: limit }) => ({
      limit,
      text: `gets a ${what} ${limit} from ${name}`,
      raise: `the limit in ${name}`,
    })),
  ]
    .map((bound) => ({ ...bound, amount: amountOf(bound.limit) }))
    .filter(({ amount }) => amount > 0)
    .sort((one, other) => one.amount - other.amount)[0];
}

/** A limit that the API server takes from no program. */
function judgeLimit(
  one: Deployment,
  facts: ManifestFacts,
  resource: Resource,
  example: string,
): Statement | undefined {
  const place = placeInChart(one.chart, "resources");
  const limit = limitIn(one.source.container, resource);
  const amount = quantityOf(limit);
  const refused = (what: string, why: string, fix: string) =>
    problem(`has a ${NAMES[resource]} limit of ${what}, ${why}: the API server refuses it`, fix);
  if (isTemplate(limit)) return undefined;
  if (amount === undefined || amount < 0) {
    const shown = boundText(limit.trim() === "" ? JSON.stringify(limit) : limit);
    const why = amount === undefined ? "which is not a quantity" : "which is negative";
    return refused(shown, why, `write ${example}, for example${place}`);
  }
  const less = [
    { name: "its pod", most: limitIn(one.source.pod, resource) },
    ...rangesOf(one, facts, resource),
  ].find(({ most }) => amount > (amountOf(most) || Number.POSITIVE_INFINITY));
  return (
    less &&
    refused(
      limit,
      `and ${less.name} allows ${less.most} at most`,
      `lower it${place}, or raise the limit of ${less.name}`,
    )
  );
}

/** YAML reads Off as false. */
const isOff = (mode: unknown) => /^(?:off|false)$/i.test(text(mode));

/** A VerticalPodAutoscaler scales a limit with the request that it measured for another program. */
function judgeAutoscaler(
  { object, container, source }: Deployment,
  { limitObjects }: ManifestFacts,
  resource: Resource,
): Statement | undefined {
  if (amountOf(limitIn(source.container, resource)) === 0) return undefined;
  const found = limitObjects.find(({ kind, metadata, spec }) => {
    const { targetRef, updatePolicy, resourcePolicy } = tree(spec);
    const { namespace = "default" } = tree(metadata);
    const target = [tree(targetRef).kind, namespace, tree(targetRef).name];
    const policies = list(tree(resourcePolicy).containerPolicies).map(tree);
    const policyOf = (name: string) => policies.find(({ containerName }) => containerName === name);
    const { mode, controlledValues, controlledResources, minAllowed } =
      policyOf(container) ?? policyOf("*") ?? {};
    return (
      kind === "VerticalPodAutoscaler" &&
      target.join() === [object.kind, object.namespace ?? "default", object.name].join() &&
      !isOff(tree(updatePolicy).updateMode) &&
      !isOff(mode) &&
      controlledValues !== "RequestsOnly" &&
      (controlledResources === undefined || list(controlledResources).includes(resource)) &&
      amountOf(text(tree(minAllowed)[resource])) < amountOf(LEAST[resource])
    );
  });
  return (
    found &&
    warning(
      `may get a lower ${NAMES[resource]} limit from VerticalPodAutoscaler ${nameOf(found)}`,
      `add to its containerPolicies: {containerName: ${container}, minAllowed: {${resource}: ${LEAST[resource]}}}`,
    )
  );
}

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** A Kubernetes quantity as bytes or CPUs, by the grammar of `ParseQuantity`; undefined if it is invalid or missing. */
function quantityOf(quantity: string): number | undefined {
  const [, digits, exponent, unit = ""] =
    /^([+-]?(?:\d+(?:\.\d*)?|\.\d*)?)(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]?))$/.exec(quantity.trim()) ??
    [];
  if (digits === undefined || quantity.trim() === "") return undefined;
  // Kubernetes reads a missing number as 0.
  const number = /\d/.test(digits) ? digits : "0";
  if (BINARY.includes(unit)) return Number(number) * 1024 ** (BINARY.indexOf(unit) + 1);
  return Number(`${number}e${exponent ?? (DECIMAL.indexOf(unit) - DECIMAL.indexOf("")) * 3}`);
}

const amountOf = (quantity: string) => quantityOf(quantity) ?? 0;
