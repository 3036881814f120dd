import { list, numberOrNone, type Tree, text, tree } from "../../../kube-api/objects";
import { boundText } from "../../../logging/escape";
import { LEAST } from "../../../manifest/image-policy/changes";
import { flat } from "../../findings/finding";
import { counted, isTemplate, RENDER_FIRST } from "../../findings/words";
import { fixInChart, placeInChart } from "../read/charts";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { nameOf } from "../read/objects";
import type { ProbeFacts } from "../read/probes";
import { amountOf, exceeds, quantityOf, thousandthsIn } from "../read/quantities";
import { eachDeployment, problem, type Statement, unknown, warning } from "./each-deployment";

type Resource = "memory" | "cpu";
const NAMES: Readonly<Record<Resource, string>> = { memory: "memory", cpu: "CPU" };
/** What fixes propose. */
const ENOUGH: Readonly<Record<Resource, string>> = { memory: "100Mi", cpu: "200m" };
/** What they ask for at least. */
const ASKED: Readonly<Record<Resource, string>> = { memory: LEAST.memory, cpu: ENOUGH.cpu };

const manifestMemory = eachDeployment("CSI105", "manifest-memory", (one, facts) => {
  const { limits } = tree(one.source.container.resources);
  const isMap = typeof (limits ?? {}) === "object" && !Array.isArray(limits);
  if (!isMap && !isTemplate(JSON.stringify(limits)))
    return problem(
      `has resources.limits ${boundText(JSON.stringify(limits))}, which is not a map: the API server refuses it`,
      `write resources.limits: {memory: 100Mi}, for example${placeInChart(one.chart, "resources")}`,
    );
  const refused = judgeLimit(one, facts, "memory");
  if (refused !== undefined) return refused;
  const bound = boundOn(one, facts, "memory");
  const typo = thousandthsIn(bound?.limit ?? "");
  if (one.program.kind !== "ours")
    return bound && typo
      ? problem(
          `${bound.text}: ${typo}`,
          fixOf(one, facts, "memory", bound, "write Mi or M in place of m", "32Mi"),
        )
      : undefined;
  // The least limit with which Node starts when its pages are not in the page cache.
  if (bound === undefined || bound.amount >= amountOf(LEAST.memory)) return judgeRest(one, facts, "memory");
  const enough = `100Mi, at least ${LEAST.memory}`;
  return problem(
    [`${bound.text}: it may never get ready after a reboot`, typo].filter(Boolean).join("; "),
    fixOf(one, facts, "memory", bound, `set resources.limits.memory: ${enough}`, enough),
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

const manifestCpu = eachDeployment("CSI114", "manifest-cpu", (one, facts) => {
  const refused = judgeLimit(one, facts, "cpu");
  if (refused !== undefined || one.program.kind !== "ours") return refused;
  const bound = boundOn(one, facts, "cpu");
  if (bound === undefined) return judgeRest(one, facts, "cpu");
  const cpus = bound.amount;
  const start = judgeStart(cpus, one.probes);
  const ofProbes = flat(one.probes.map((probe) => judgeProbe(cpus, probe)));
  // What is said of a probe is reason enough to raise the limit.
  const found = start?.status === "problem" || ofProbes.length === 0 ? flat([start, ofProbes]) : ofProbes;
  if (found.length === 0) return judgeRest(one, facts, "cpu");
  return found.map(({ status, text, fix = "" }) => ({
    status,
    text: `${bound.text}: ${text}`,
    fix: fixOf(one, facts, "cpu", bound, fix, "200m at least"),
  }));
});

/** An exec probe that runs the registrar is a Node process, which shares the container's limit. */
function judgeProbe(cpus: number, { kind, settings, timing }: ProbeFacts): Statement | undefined {
  if (settings === undefined) return undefined;
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
  const patience = probe === undefined ? Number.POSITIVE_INFINITY : patienceOf(probe);
  const [least, most] = [START.least / cpus, START.most / cpus];
  const waits = `the ${probe?.kind} waits ${patience} s`;
  if (least > LEAST_PATIENCE_S && least >= patience)
    return problem(`it starts in ${range(START, cpus)}, and ${waits}; ${RESTARTS}`, RAISE);
  // With so little, a start takes seconds also without probes, and an exec probe may fail whatever its timeoutSeconds.
  if (cpus >= amountOf(LEAST.cpu)) return undefined;
  const end = most >= patience ? `, and ${waits}: it may be restarted` : "";
  return warning(`it registers after ${range(START, cpus)}${end}`, RAISE);
}

/** How long kubelet lets a probe fail before it ends the container, in seconds. */
const patienceOf = ({ timing: { initialDelaySeconds, failureThreshold, periodSeconds } }: ProbeFacts) =>
  initialDelaySeconds + (failureThreshold - 1) * periodSeconds;

function range({ least, most }: typeof START, cpus: number): string {
  return `${(least / cpus).toFixed(1)} to ${(most / cpus).toFixed(1)} s`;
}

/** A limit of a container or a pod. A missing limit is `0`, which Kubernetes takes for no limit, too. */
function limitIn({ resources }: Tree, resource: Resource): string {
  const { limits } = tree(resources);
  const template = [resources, limits].find((whole) => typeof whole === "string" && isTemplate(whole));
  return text(template ?? tree(limits)[resource] ?? "0");
}

/** The objects of a kind in a registrar's namespace. */
const besideOf = ({ object }: Deployment, { limitObjects }: ManifestFacts, kind: string) =>
  limitObjects.filter((one) => {
    const { namespace = "default" } = tree(one.metadata);
    return one.kind === kind && namespace === (object.namespace ?? "default");
  });

/** What LimitRanges say of containers, or of whole pods, in a registrar's namespace. */
function rangesOf(one: Deployment, facts: ManifestFacts, resource: Resource, of = "Container") {
  return besideOf(one, facts, "LimitRange").flatMap((range) =>
    list(tree(range.spec).limits)
      .map(tree)
      .filter(({ type }) => type === of)
      .map(({ max, min, default: byDefault, maxLimitRequestRatio }) => {
        const [most = "", least = "", given = "", ratio = ""] = [
          max,
          min,
          byDefault,
          maxLimitRequestRatio,
        ].map((values) => text(tree(values)[resource]));
        // The API server takes the maximum for a default that is missing.
        return { name: `LimitRange ${nameOf(range)}`, most, least, given, byDefault: given || most, ratio };
      }),
  );
}

/** The limits on a registrar: its own, or its namespace's default, and its pod's. */
function limitsOn(one: Deployment, facts: ManifestFacts, resource: Resource) {
  const what = `${NAMES[resource]} limit of`;
  const { container, pod } = one.source;
  const [own, ofPod] = [limitIn(container, resource), limitIn(pod, resource)];
  const given = own === "0" ? rangesOf(one, facts, resource) : [];
  return [
    { of: "container", limit: own, text: `has a ${what} ${own}` },
    { of: "pod", limit: ofPod, text: `is in a pod with a ${what} ${ofPod}` },
    ...given.map(({ name, byDefault: limit }) => ({
      of: "namespace",
      limit,
      text: `gets a ${what} ${limit} from ${name}`,
    })),
  ].map((bound) => ({ ...bound, amount: amountOf(bound.limit) }));
}

type Bound = ReturnType<typeof limitsOn>[number];

function boundOn(one: Deployment, facts: ManifestFacts, resource: Resource): Bound | undefined {
  return limitsOn(one, facts, resource)
    .filter(({ amount }) => amount > 0)
    .sort((one, other) => one.amount - other.amount)[0];
}

/** Names with the limit itself whatever else the API server holds it to. */
function fixOf(
  one: Deployment,
  facts: ManifestFacts,
  resource: Resource,
  bound: Bound,
  own: string,
  enough: string,
): string {
  const isOwn = bound.of === "container";
  const isLow = (limit: string) => amountOf(limit) > 0 && amountOf(limit) < amountOf(ENOUGH[resource]);
  const ofRanges = rangesOf(one, facts, resource).flatMap(({ name, most, given }) => {
    const fields = [...(!isOwn && isLow(given) ? ["default"] : []), ...(isLow(most) ? ["max"] : [])];
    return fields.length > 0 ? [`${fields.join(" and ")} in ${name}`] : [];
  });
  const ofPod = isLow(limitIn(one.source.pod, resource)) ? ["the limit of its pod"] : [];
  const raise = [...ofPod, ...ofRanges].join(", and ");
  const fix = isOwn
    ? fixInChart(one.chart, "resources", own) + (raise && `; raise ${raise} as far`)
    : `raise ${raise} to ${enough}`;
  return [fix, ...roomFor(one, facts, resource, bound)].join("; ");
}

const SCOPES: readonly unknown[] = ["NotTerminating", "NotBestEffort"];

/** What of the namespace has too little room for the limit that a fix asks for, and how much it needs. */
function roomFor(one: Deployment, facts: ManifestFacts, resource: Resource, bound: Bound): readonly string[] {
  const { object, pod, container } = one.source;
  const [asked, key] = [amountOf(ASKED[resource]), `limits.${resource}`];
  const shown = (amount: number) =>
    resource === "cpu" ? `${Math.ceil(amount * 1000 - 1e-6)}m` : `${Math.ceil(amount / 2 ** 20)}Mi`;
  const count = tree(object.status).desiredNumberScheduled ?? tree(object.spec).replicas;
  const pods = numberOrNone(count) ?? 1;
  const quotas = besideOf(one, facts, "ResourceQuota").flatMap((quota) => {
    const { hard, scopes, scopeSelector } = tree(quota.spec);
    const [limit, name] = [text(tree(hard)[key]), `ResourceQuota ${nameOf(quota)}`];
    if (limit === "" || scopeSelector !== undefined || !list(scopes).every((scope) => SCOPES.includes(scope)))
      return [];
    const used = tree(tree(quota.status).used)[key];
    const needed = used === undefined ? pods * asked : amountOf(text(used)) + pods * (asked - bound.amount);
    if (needed > amountOf(limit))
      return `for ${counted(pods, "pod")} with ${ASKED[resource]} each ${name} needs ${key}: ${shown(needed)} at least, and has ${limit}`;
    return resource === "cpu" && bound.of === "container"
      ? `do not take the limit off: ${name} asks for one`
      : [];
  });
  const others = list(pod.containers).filter((other) => other !== container);
  const ofPod = others.reduce<number>((sum, other) => sum + amountOf(limitIn(tree(other), resource)), asked);
  const ofPods = rangesOf(one, facts, resource, "Pod")
    .filter(({ most }) => exceeds(ofPod, most))
    .map(({ name, most }) => `${name} needs a max of ${shown(ofPod)} for a pod, and has ${most}`);
  const request = amountOf(text(tree(tree(container.resources).requests)[resource])) || bound.amount;
  const ratios = rangesOf(one, facts, resource)
    .filter(({ ratio }) => exceeds(asked / request, ratio))
    .map(
      ({ name, ratio }) =>
        `${name} has maxLimitRequestRatio ${ratio}: request ${shown(asked / amountOf(ratio))} at least`,
    );
  return [...quotas, ...ofPods, ...ratios];
}

/** A limit or request that the API server takes from no program. */
function judgeLimit(one: Deployment, facts: ManifestFacts, resource: Resource): Statement | undefined {
  const place = placeInChart(one.chart, "resources");
  const { container, pod } = one.source;
  const refused = (text: string, fix: string) => problem(`${text}: the API server refuses it`, fix);
  const ranges = rangesOf(one, facts, resource);
  const wrong = ranges.find(({ most, byDefault }) => exceeds(amountOf(byDefault), most));
  const judge = (what: "limit" | "request", value: string): Statement | undefined => {
    if (isTemplate(value)) return undefined;
    const has = (shown: string) => `has a ${NAMES[resource]} ${what} of ${shown}`;
    const amount = quantityOf(value);
    if (amount === undefined || amount < 0) {
      const shown = boundText(value.trim() === "" ? JSON.stringify(value) : value);
      const why = amount === undefined ? "which is not a quantity" : "which is negative";
      return refused(`${has(shown)}, ${why}`, `write ${ENOUGH[resource]}, for example${place}`);
    }
    const low = ranges.find(({ least }) => amount > 0 && amount < amountOf(least));
    if (low !== undefined)
      return refused(`${has(value)}, and ${low.name} asks for ${low.least} at least`, `raise it${place}`);
    const ofPod = { name: "its pod", most: limitIn(pod, resource) };
    const less = [ofPod, ...ranges].find(({ most }) => exceeds(amount, most));
    if (less !== undefined)
      return refused(
        `${has(value)}, and ${less.name} allows ${less.most} at most`,
        `lower it${place}, or raise the limit of ${less.name}`,
      );
    const bound = boundOn(one, facts, resource);
    return bound && exceeds(amount, bound.limit)
      ? refused(`${bound.text}, and requests ${value}`, `lower the request${place}, or raise the limit`)
      : undefined;
  };
  const request = tree(tree(container.resources).requests)[resource];
  return (
    judge("limit", limitIn(container, resource)) ??
    (wrong &&
      problem(
        `is in the namespace of ${wrong.name}, whose default for ${NAMES[resource]}, ${wrong.byDefault}, is above its max, ${wrong.most}: the API server refuses that object`,
        `raise max in ${wrong.name}`,
      )) ??
    (request === undefined || request === null ? undefined : judge("request", text(request)))
  );
}

/** The verdict if no readable limit is too low. */
function judgeRest(one: Deployment, facts: ManifestFacts, resource: Resource): Statement | undefined {
  const limits = limitsOn(one, facts, resource);
  const template = limits.find(({ limit }) => isTemplate(limit));
  if (template !== undefined)
    return {
      ...unknown(`${boundText(template.text)}, which is a template`, RENDER_FIRST),
      isUnread: true,
    };
  // It scales no limit of a pod.
  return limits.some(({ of, amount }) => of !== "pod" && amount > 0)
    ? judgeAutoscaler(one, facts, resource)
    : undefined;
}

/** YAML reads Off as false. */
const isOff = (mode: unknown) => ["Off", "off", "false"].includes(text(mode));

/** A VerticalPodAutoscaler scales a limit with the request that it measured for another program. */
function judgeAutoscaler(one: Deployment, facts: ManifestFacts, resource: Resource): Statement | undefined {
  const { object, container } = one;
  const found = besideOf(one, facts, "VerticalPodAutoscaler").find(({ spec }) => {
    const { targetRef, updatePolicy, resourcePolicy } = tree(spec);
    const { kind, name } = tree(targetRef);
    const policies = list(tree(resourcePolicy).containerPolicies).map(tree);
    const policyOf = (name: string) => policies.find(({ containerName }) => containerName === name);
    const { mode, controlledValues, controlledResources, minAllowed } =
      policyOf(container) ?? policyOf("*") ?? {};
    return (
      kind === object.kind &&
      name === object.name &&
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

export const limitChecks = [manifestMemory, manifestCpu];
