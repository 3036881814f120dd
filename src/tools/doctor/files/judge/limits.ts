import { boundText } from "../../../../logging/escape";
import { LEAST } from "../../../manifest/image-policy/changes";
import { type Advice, unsureEach, type Verdicts } from "../../findings/finding";
import { asFarAsAsked } from "../../findings/least";
import {
  type Gap,
  ifYes,
  listFrom,
  nothing,
  type Seen,
  type SeenList,
  type Text,
  withheld,
  words,
} from "../../findings/seen";
import { RENDER_FIRST, WRITE_NAMESPACE } from "../../findings/words";
import { isOneNamespace } from "../read/identity";
import { type Amount, amountOf, type LimitedResource, type LimitRange } from "../read/pod";
import type { ProbeFacts } from "../read/probes";
import { isOurs, type RegistrarContainer } from "../read/registrars";
import { eachRegistrar, problem, unknown, warning } from "./each-registrar";

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

/** Without a fix a higher limit is what helps. */
interface Judged {
  readonly say: typeof problem | typeof warning;
  readonly text: string;
  readonly fix?: string;
}
interface Asked {
  readonly one: RegistrarContainer;
  readonly resource: LimitedResource;
  readonly judgeLimit: (limit: Amount, one: RegistrarContainer) => SeenList<Judged>;
}

const NAMES = { memory: "memory", cpu: "CPU" };

const joined = (fixes: SeenList<Text>): Advice =>
  fixes
    .together()
    .map((all) => all.joined((each) => each, "; "))
    .told("");
const raise = (what: Text, resource: LimitedResource) => words`raise ${what} to ${ASKED[resource]} at least`;
/** With the limit itself, a fix raises a maximum that has too little room for it. */
const raiseMax = ({ name, containers }: LimitRange, resource: LimitedResource) =>
  listFrom(containers).flatMap((item) =>
    item[resource].max.items(({ amount }) =>
      amount > 0 && amount < amountOf(ASKED[resource])
        ? raise(words`max in LimitRange ${name}`, resource)
        : undefined,
    ),
  );

const negative = (has: string, { text, amount }: Amount, resource: LimitedResource) =>
  amount < 0
    ? problem(
        `${has} of ${text}: the API server refuses a negative one`,
        `write ${ENOUGH[resource]}, or leave it out`,
      )
    : undefined;

/** Of other programs than ours only a wrong unit matters. */
const unread =
  ({ one, resource }: Asked) =>
  (gap: Gap) =>
    ifYes(isOurs(one), () => sayUnclear(resource, gap)).with(withheld([gap]));

const judgeOne = (asked: Asked, limit: Seen<Amount>, has: string, fix: Advice, from: Text = ""): Verdicts =>
  limit({
    seen: (most) =>
      most.amount > 0
        ? asked
            .judgeLimit(most, asked.one)
            .map((its) => its.say(words`${has} of ${most.text}${from}: ${its.text}`, its.fix ?? fix))
        : negative(has, most, asked.resource),
    unread: unread(asked),
  });

/** What a container without a limit of its own gets from a LimitRange, or the maximum that its own exceeds. */
const judgeRange = (asked: Asked, range: LimitRange): SeenList<Verdicts> =>
  listFrom(range.containers).flatMap((item) => {
    const { one, resource } = asked;
    const { max, byDefault } = item[resource];
    const of = words`LimitRange ${range.name}`;
    const limitOf = `a ${NAMES[resource]} limit`;
    const gets = (limit: Seen<Amount>, fix: Advice) =>
      judgeOne(asked, limit, `gets ${limitOf}`, fix, words` from ${of}`);
    const maxima = raiseMax(range, resource);
    const fixDefault = joined(listFrom([raise(words`default in ${of}`, resource)]).with(maxima));
    // The API server takes the maximum for a default that is missing.
    const judgeDefault = ({ text }: Amount) =>
      text === "" ? gets(max, joined(maxima)) : gets(byDefault, fixDefault);
    const over = ({ text, amount }: Amount, limit: Amount) =>
      amount > 0 && amount < limit.amount
        ? problem(
            words`has ${limitOf} of ${limit.text}, over the max of ${text} in ${of}: the API server refuses its pods`,
            words`raise max in ${of}, or lower the limit`,
          )
        : undefined;
    return one.limits[resource].own.items((limit) =>
      limit.amount === 0
        ? [byDefault({ seen: judgeDefault, unread: unread(asked) })]
        : max.items((most) => over(most, limit)),
    );
  });

/** Judges each limit on a container: its own or its namespace's default, and its pod's. */
const limitCheck = (code: string, resource: LimitedResource, judgeLimit: Asked["judgeLimit"]) =>
  eachRegistrar(code, `manifest-${resource}`, (one, { limitRanges }) => {
    const asked = { one, resource, judgeLimit };
    const { own, ofPod, request } = one.limits[resource];
    const limitOf = `a ${NAMES[resource]} limit`;
    const isHere = ({ identity }: LimitRange) => isOneNamespace(identity, one.identity);
    const maxima = limitRanges.filter(isHere).flatMap((range) => raiseMax(range, resource));
    return [
      judgeOne(asked, own, `has ${limitOf}`, joined(listFrom<Text>([SET[resource]]).with(maxima))),
      limitRanges.flatMap((range) =>
        isHere(range).say({
          yes: () => judgeRange(asked, range),
          no: nothing,
          unknown: () => unsureEach(judgeRange(asked, range), UNKNOWN_NAMESPACE, WRITE_NAMESPACE),
        }),
      ),
      judgeOne(asked, ofPod, `is in a pod with ${limitOf}`, raise("the limit of its pod", resource)),
      request.map((most) => negative(`has a ${NAMES[resource]} request`, most, resource)),
    ];
  });

const UNKNOWN_NAMESPACE = "; whether both are in one namespace is not known";

function sayUnclear(resource: LimitedResource, { why, subject }: Gap) {
  const [at, flaw] = why.kind === "flaw" ? [why.at, why.flaw] : [""];
  const text = `has a ${NAMES[resource]} limit of ${boundText(at)}${subject}, which is not`;
  return flaw === "placeholder"
    ? unknown(`${text} filled in`, RENDER_FIRST)
    : unknown(`${text} a quantity`, `write ${ENOUGH[resource]}, for example`);
}

const manifestMemory = limitCheck("CSI105", "memory", ({ text, amount }, one) => {
  if (/m\s*$/.test(text) && amount < 1024)
    return listFrom<Judged>([
      { say: problem, text: "m is a thousandth of a byte", fix: "write Mi or M in place of m" },
    ]);
  // The least limit with which Node starts when its pages are not in the page cache.
  const isTooLow = isOurs(one).and(amount < amountOf(LEAST.memory));
  return ifYes<Judged>(isTooLow, () => ({
    ...{ say: problem, text: "Node.js may hang while loading after a reboot" },
  }));
});

/** For what kubelet waits, and for how many seconds: for an exec probe, and for a start. */
const waitsIn = (probes: readonly ProbeFacts[]) =>
  listFrom(probes).flatMap(({ kind, settings, patience }) => {
    const first = probes.some((one) => one.kind === "startupProbe") ? "startupProbe" : "livenessProbe";
    const ofStart = asFarAsAsked(patience.map((most) => most)).flatMap((most) => ({
      ...{ what: "its start", cpu: START_CPU_SECONDS, most },
      bound: `its ${kind} ends it after ${most} s`,
      fix: `set initialDelaySeconds: ${LEAST.probeTimeoutSeconds} in its ${kind}`,
    }));
    const ofProbe = settings.items((own) =>
      own?.parsed
        .map((its) => its)
        .filter(({ mode }) => mode.is((does) => does === "probe"))
        .map(() => ({
          ...{ what: `its ${kind}`, cpu: PROBE_CPU_SECONDS, most: own.timeoutSeconds },
          bound: `its timeoutSeconds is ${own.timeoutSeconds}`,
          fix: `set its timeoutSeconds: ${LEAST.probeTimeoutSeconds}`,
        })),
    );
    return ofStart.filter(() => kind === first).with(ofProbe);
  });

const manifestCpu = limitCheck("CSI114", "cpu", ({ amount }, one) => {
  const isLittle = amount < amountOf(LEAST.cpu);
  const waits = waitsIn(one.probes).filter(() => isOurs(one));
  const late = waits.flatMap(({ what, cpu, most, bound, fix }): readonly Judged[] => {
    if (cpu.cold / amount <= most) return [];
    const [usual, reboot] = [cpu.warm, cpu.cold].map((seconds) => Number((seconds / amount).toPrecision(3)));
    const text = `${what} takes about ${usual} s, ${reboot} s after a reboot, and ${bound}`;
    return [{ say: cpu.warm / amount > most ? problem : warning, text, ...(isLittle ? {} : { fix }) }];
  });
  const little = `Node.js takes seconds to start with less than ${LEAST.cpu}, and exec probes may fail`;
  const isOnlyLittle = late.contains().not().and(isLittle).and(isOurs(one));
  return late.with(ifYes<Judged>(isOnlyLittle, () => ({ say: warning, text: little })));
});

export const limitChecks = [manifestMemory, manifestCpu];
