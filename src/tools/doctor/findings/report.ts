import { causeKey, rankOf } from "./causes";
import type { Check, Finding, Status, Verdicts } from "./finding";
import { type Gap, lackedIn } from "./gap";
import { sortedBy } from "./grouped";
import { lackIn, open, saidIn } from "./opened";
import { sayWhy } from "./why";

type Answered = Pick<Check<never>, "code" | "name"> & { readonly said: Verdicts };
const answersOf = <Seen>(checks: readonly Check<Seen>[], facts: Seen): readonly Answered[] =>
  checks.map(({ code, name, verdicts }) => ({ code, name, said: verdicts(facts) }));

/** In order of the checks' codes: a cause has a lower one than what follows from it. */
const findingsIn = (answers: readonly Answered[]): readonly Finding[] =>
  sortedBy(answers, ({ code }) => code).flatMap(({ code, name, said }) =>
    saidIn(said).map((verdict) => ({ code, check: name, ...open(verdict) })),
  );

export const findingsOf = <Seen>(checks: readonly Check<Seen>[], facts: Seen): readonly Finding[] =>
  findingsIn(answersOf(checks, facts));

/**
 * The same for a whole report. If it has no problem and no unknown finding, and a check withheld something because of a gap that
 * `facts.gaps` does not list, one unknown finding names the first such gap.
 */
export function findingsOfAll<Seen extends { readonly gaps: readonly Gap[] }>(
  checks: readonly Check<Seen>[],
  facts: Seen,
  others: readonly Finding[] = [],
): readonly Finding[] {
  const answers = answersOf(checks, facts);
  const found = [...others, ...findingsIn(answers)];
  if (found.some(({ status }) => status === "problem" || status === "unknown")) return found;
  const told = new Set(facts.gaps.map(gapKey));
  const untold = answers.flatMap(({ code, name, said }) =>
    lackedIn(lackIn(said))
      .filter((gap) => gap.why.kind !== "aside" && !told.has(gapKey(gap)))
      .map(({ subject, why }): Finding => {
        const { text, fix } = sayWhy(why);
        return { code, check: name, status: "unknown", subject, text: `could not be judged: ${text}`, fix };
      }),
  );
  return [...found, ...untold.slice(0, 1)];
}
const gapKey = ({ part, subject }: Gap) => JSON.stringify([part, subject]);

/** The same for two findings that are one: of a check on a container of an object, whatever they say. */
export const keyOf = ({ code, status, about, subject }: Finding): string =>
  JSON.stringify([code, status, about ? [about.object, about.container] : subject]);

/** The reports' forms. The number grows when a field goes or changes its meaning, not when one is added. */
export const SCHEMA = "registrar.doctor/1";
export const CLUSTER_SCHEMA = "registrar.doctor.cluster/1";

export type ReportedFinding = ReturnType<typeof withFollowers>[number];

/** One driver of the node, wherever it was found. Null: unknown. */
export interface DriverRow {
  readonly name: string | null;
  /** The state that the registrar reports; without a report, one of the states listed in docs/doctor.md. */
  readonly state: string;
  /** When it came to that state, as RFC 3339. */
  readonly since: string | null;
  readonly reason: string | null;
  /** The driver's socket, as kubelet gets it or as it was found. */
  readonly csiSocket: string | null;
  readonly registrationSocket: string | null;
}

export type Report = ReturnType<typeof reportOf>;

/** What the doctor has to say. Its JSON form is a promise to programs: see docs/doctor.md. */
export function reportOf(target: unknown, found: readonly Finding[], drivers: readonly DriverRow[] = []) {
  const { findings, healthy, summary } = reportFindings(found);
  return { schema: SCHEMA, healthy, target, drivers, summary, findings };
}

/** Says which finding follows from which, and counts them. */
export function reportFindings(found: readonly Finding[]) {
  const findings = withFollowers(found);
  /** How many findings there are of each status, without those that follow from another. */
  const summary: Record<Status, number> = { problem: 0, warning: 0, unknown: 0, skipped: 0, ok: 0 };
  for (const { status, follows } of findings) if (follows === null) summary[status] += 1;
  /** Everything that was judged is known, and no problem was found; there may be warnings. */
  const healthy = exitCodeOf(summary) === 0;
  return { findings, healthy, summary };
}

export const EXIT_PROBLEM = 1;
export const EXIT_UNKNOWN = 3;

export function exitCodeOf({ problem, unknown }: Readonly<Record<Status, number>>): number {
  if (problem > 0) return EXIT_PROBLEM;
  return unknown > 0 ? EXIT_UNKNOWN : 0;
}

/** More than there are ranks between each two. */
const BADNESS: Readonly<Record<Status, number>> = {
  ok: 0,
  skipped: 100,
  unknown: 200,
  warning: 300,
  problem: 400,
};

/** The finding with each cause from which its others follow: none follows from one that is less bad. */
export function leadingIn(findings: readonly Finding[]): ReadonlyMap<string, number> {
  const leading = new Map<string, number>();
  const rankAt = (at: number | undefined) => {
    const { cause, code = "", status = "ok" } = findings[at ?? -1] ?? {};
    return cause === undefined ? Number.POSITIVE_INFINITY : rankOf(cause, code) - BADNESS[status];
  };
  for (const [index, { cause }] of findings.entries()) {
    const key = cause && causeKey(cause);
    if (key !== undefined && rankAt(index) < rankAt(leading.get(key))) leading.set(key, index);
  }
  return leading;
}

function withFollowers(findings: readonly Finding[]) {
  const leading = leadingIn(findings);
  return findings.map(
    ({ code, check, status, subject, text, fix = null, command = null, cause, nodes }, index) => {
      const first = cause && leading.get(causeKey(cause));
      // What is unknown causes nothing.
      const lead = first === undefined || findings[first]?.status === "unknown" ? index : first;
      return {
        ...{ code, check, status, subject, text },
        /** Null if there is nothing to do. */
        fix,
        /** What to run, or to paste, for it, in one line; null: nothing. */
        command,
        /** The code of the problem that causes this one, and its index in `findings`; null if this one stands by itself. */
        follows: lead === index ? null : (findings[lead]?.code ?? null),
        followsIndex: lead === index ? null : lead,
        ...(nodes && { nodes }),
      };
    },
  );
}
