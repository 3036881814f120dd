import { boundText } from "../../../../logging/escape";
import { LEAST } from "../../../manifest/image-policy/changes";
import { type Decided, isTemplate } from "../../../recognise/rule";
import type { Advice } from "../../findings/finding";
import { ifYes, listFrom, nothing, otherwise, type SeenList } from "../../findings/seen";
import { RENDER_FIRST } from "../../findings/words";
import { amountOf, type LimitedResource, type LimitRange, quantityOf } from "../read/pod";
import type { ProbeFacts } from "../read/probes";
import type { RegistrarContainer } from "../read/registrars";
import { eachRegistrar, problem, type Statement, unknown, warning } from "./each-registrar";

/** What fixes propose, and what they ask for at least. */
const ENOUGH = { memory: "100Mi", cpu: "200m" };
const ASKED = { memory: LEAST.memory, cpu: ENOUGH.cpu };
const SET = {
  memory: `set resources.limits.memory: ${ENOUGH.memory}, at least ${LEAST.memory}`,
  cpu: `set resources.limits.cpu: ${ENOUGH.cpu} at least`,
};

/** The CPU time of an exec probe: its rows `CPU limit` in docs/measurements.md, times their limit. */
const PROBE_CPU_SECONDS = { warm: 0.08, cold: 0.12 };
/** That of a start at least, by the same rows. */
const START_CPU_SECONDS = { warm: 0.1, cold: 0.15 };

interface Limit {
  readonly what: string;
  /** What to raise; undefined: the container's own. */
  readonly raise: string | undefined;
  readonly most: string;
}
type Bound = Limit & { readonly amount: number };

/** Without a fix a higher limit is what helps. */
interface Judged {
  readonly say: typeof problem | typeof warning;
  readonly text: string;
  readonly fix?: string;
}

/** What is said of the container. */
interface Said {
  readonly say: (text: string, fix: Advice) => Statement;
  readonly text: string;
  readonly fix: Advice;
}

/** Whether a limit bounds an amount: one of 0 bounds nothing. */
const isBelow = (limit: string, amount: string) => amountOf(limit) > 0 && amountOf(limit) < amountOf(amount);

const NAMES = { memory: "memory", cpu: "CPU" };

/** Those of a container and its pod that the API server refuses. */
const negativeIn = ({ limits }: RegistrarContainer, resource: LimitedResource): readonly string[] => {
  const { own, ofPod, request } = limits[resource];
  const all = { "has a limit": own, "is in a pod with a limit": ofPod, "has a request": request };
  return Object.entries(all).flatMap(([what, amount]) =>
    amountOf(amount) < 0 ? `${what} of ${amount}` : [],
  );
};

/** The limits on a container: its own, or its namespace's default, and its pod's; and the maxima beside them. */
function limitsOn(one: RegistrarContainer, ranges: SeenList<LimitRange>, resource: LimitedResource) {
  const { own, ofPod } = one.limits[resource];
  const limitOf = (most: string) => `a ${NAMES[resource]} limit of ${most}`;
  const maxima = ranges.flatMap(({ name, containers }) =>
    containers.map(({ max, byDefault }) => {
      const of = `LimitRange ${name}`;
      const most = { raise: `max in ${of}`, most: max[resource] || "0" };
      const byItself = byDefault[resource];
      return { of, ...most, limit: byItself ? { raise: `default in ${of}`, most: byItself } : most };
    }),
  );
  const bounds = listFrom<Limit>([
    { what: `has ${limitOf(own)}`, raise: undefined, most: own },
    { what: `is in a pod with ${limitOf(ofPod)}`, raise: "the limit of its pod", most: ofPod },
  ]).with(
    // The API server takes the maximum for a default that is missing.
    maxima
      .filter(() => own === "0")
      .map(({ of, limit }) => ({ what: `gets ${limitOf(limit.most)} from ${of}`, ...limit })),
  );
  return { bounds: bounds.map((bound) => ({ ...bound, amount: quantityOf(bound.most) })), maxima };
}

/** Judges the least of the limits on a container. */
const limitCheck = (
  code: string,
  resource: LimitedResource,
  judgeBound: (bound: Bound, one: RegistrarContainer) => SeenList<Judged>,
) => {
  const judge = (one: RegistrarContainer, ranges: SeenList<LimitRange>) => {
    const { bounds, maxima } = limitsOn(one, ranges, resource);
    const known = bounds
      .flatMap(({ amount = 0, ...bound }) => (amount > 0 ? { ...bound, amount } : undefined))
      .sorted(({ amount }) => amount);
    const least = known.together().map(({ first }) => first);
    // With the limit itself, a fix raises whatever else has too little room for it.
    const asked = ASKED[resource];
    const small = known
      .map(({ raise, most }) => ({ raise, most }))
      .with(maxima)
      .flatMap(({ raise, most }) => (isBelow(most, asked) ? raise : undefined));
    const higherThan = ({ raise }: Limit) =>
      listFrom(raise === undefined ? [SET[resource]] : [])
        .with(small.map((each) => `raise ${each} to ${asked} at least`))
        .together()
        .map((all) => all.joined((some) => some, "; "))
        .told("");
    const unread = bounds.filter(({ amount }) => amount === undefined).together();
    const unclear = unread.map(({ first: { most, what } }): Said => {
      const fix = isTemplate(most) ? RENDER_FIRST : `write ${ENOUGH[resource]}, for example`;
      return { say: unknown, text: `${boundText(what)}, which is not a quantity`, fix };
    });
    const judged = least.flatMap((bound) =>
      judgeBound(bound, one).map(({ say, text, fix }): Said => {
        return { say, text: `${bound.what}: ${text}`, fix: fix ?? higherThan(bound) };
      }),
    );
    const { own } = one.limits[resource];
    const refused = maxima.flatMap(({ of, raise, most }): Said | undefined => {
      const text = `has a ${NAMES[resource]} limit of ${own}, over the max of ${most} in ${of}: the API server refuses its pods`;
      return isBelow(most, own)
        ? { say: problem, text, fix: `raise ${raise}, or lower the limit` }
        : undefined;
    });
    const isEnough = judged.contains().or(one.program.kind !== "ours");
    return judged.with(refused).with(unclear.filter(() => isEnough.not()));
  };
  return eachRegistrar(code, `manifest-${resource}`, (one, { limitRanges }) => {
    const judgeWith = (isMeant: (isOfIt: Decided) => boolean) =>
      judge(
        one,
        limitRanges.filter(({ namespace }) => isMeant(isSameNamespace(namespace, one.namespace))),
      );
    const known = judgeWith((isOfIt) => isOfIt === true);
    const unsure = ({ text }: Said) => unknown(`${text}; ${UNKNOWN_NAMESPACE}`, WRITE_NAMESPACE);
    return [
      known.map(({ say, text, fix }) => say(text, fix)),
      judgeWith((isOfIt) => isOfIt !== false).map((one) =>
        known.contains(({ text }) => text === one.text)({ yes: nothing, ...otherwise(() => unsure(one)) }),
      ),
      negativeIn(one, resource).map((what) =>
        problem(
          `${what}: the API server refuses a negative one`,
          `write ${ENOUGH[resource]}, or leave it out`,
        ),
      ),
    ];
  });
};

/** One that is not written is chosen when the file is applied. */
function isSameNamespace(one: string, other: string): Decided {
  if (one === other) return true;
  return [one, other].some((name) => name === "" || isTemplate(name)) && "open";
}
const UNKNOWN_NAMESPACE = "whether both are in one namespace is not known";
const WRITE_NAMESPACE = "write the namespace into both";

const manifestMemory = limitCheck("CSI105", "memory", ({ most, amount }, { program }) => {
  if (/m\s*$/.test(most) && amount < 1024)
    return listFrom<Judged>([
      { say: problem, text: "m is a thousandth of a byte", fix: "write Mi or M in place of m" },
    ]);
  // The least limit with which Node starts when its pages are not in the page cache.
  const isTooLow = program.kind === "ours" && amount < amountOf(LEAST.memory);
  return listFrom<Judged>(
    isTooLow ? [{ say: problem, text: "Node.js may hang while loading after a reboot" }] : [],
  );
});

/** For what kubelet waits, and for how many seconds: for an exec probe, and for a start. */
const waitsIn = (probes: readonly ProbeFacts[]) =>
  listFrom(probes).flatMap(({ kind, settings, timeoutSeconds, patienceSeconds }) => {
    const first = probes.some((one) => one.kind === "startupProbe") ? "startupProbe" : "livenessProbe";
    const ofProbe = {
      ...{ what: `its ${kind}`, cpu: PROBE_CPU_SECONDS, most: timeoutSeconds },
      bound: `its timeoutSeconds is ${timeoutSeconds}`,
      fix: `set its timeoutSeconds: ${LEAST.probeTimeoutSeconds}`,
    };
    const ofStart = {
      ...{ what: "its start", cpu: START_CPU_SECONDS, most: patienceSeconds },
      bound: `its ${kind} ends it after ${patienceSeconds} s`,
      fix: `set initialDelaySeconds: ${LEAST.probeTimeoutSeconds} in its ${kind}`,
    };
    const ofAsked = settings.items((asked) => (asked?.mode === "probe" ? ofProbe : undefined));
    return listFrom(kind === first ? [ofStart] : []).with(ofAsked);
  });

const manifestCpu = limitCheck("CSI114", "cpu", ({ amount }, { program, probes }) => {
  if (program.kind !== "ours") return listFrom<Judged>([]);
  const isLittle = amount < amountOf(LEAST.cpu);
  const late = waitsIn(probes).flatMap(({ what, cpu, most, bound, fix }): readonly Judged[] => {
    if (cpu.cold / amount <= most) return [];
    const [usual, reboot] = [cpu.warm, cpu.cold].map((seconds) => Number((seconds / amount).toPrecision(3)));
    const text = `${what} takes about ${usual} s, ${reboot} s after a reboot, and ${bound}`;
    return [{ say: cpu.warm / amount > most ? problem : warning, text, ...(isLittle ? {} : { fix }) }];
  });
  const little = `Node.js takes seconds to start with less than ${LEAST.cpu}, and exec probes may fail`;
  const isOnlyLittle = late.contains().not().and(isLittle);
  return late.with(ifYes<Judged>(isOnlyLittle, () => ({ say: warning, text: little })));
});

export const limitChecks = [manifestMemory, manifestCpu];
