/**
 * How bad it is. `problem`: it keeps a driver from being registered or used. `warning`: it may, or it harms another.
 * `unknown`: it cannot be seen from here.
 */
export type Status = "ok" | "unknown" | "warning" | "problem";

/** What a check says of one thing: subject and text make a sentence. */
export interface Verdict {
  readonly status: Status;
  /** A path or a name, as found: it may hold anything. */
  readonly subject: string;
  readonly text: string;
  /** What to do about it, in one line; undefined where there is nothing to do. */
  readonly fix?: string | undefined;
  /** What lies behind it: of the problems with one cause, the first is the one to fix. */
  readonly cause?: string | undefined;
  /** Something that was asked for could not be read: without a problem, that is not well either. */
  readonly isUnread?: boolean | undefined;
  /** The nodes that it is of, where a whole cluster is looked at. */
  readonly nodes?: readonly string[] | undefined;
}

/** A verdict and the check that came to it. */
export interface Finding extends Verdict {
  /** Stable, and a heading in docs/doctor.md. */
  readonly code: string;
  readonly check: string;
}

/** What a check says: of one thing, of several, or nothing where the question does not arise. */
export type Verdicts = Verdict | undefined | readonly Verdicts[];

/** One question to the facts, and what each answer means. Its code is a heading in docs/doctor.md. */
export interface Check<Seen> {
  /** Stable: programs and links go by it. */
  readonly code: string;
  /** Stable too, and easier to say. */
  readonly name: string;
  readonly verdicts: (facts: Seen) => Verdicts;
}

/** What checks make of the facts. */
export function findingsOf<Seen>(checks: readonly Check<Seen>[], facts: Seen): readonly Finding[] {
  return checks.flatMap(({ code, name, verdicts }) =>
    flat(verdicts(facts)).map((verdict) => ({ code, check: name, ...verdict })),
  );
}

/** The verdicts one by one. */
export function flat(verdicts: Verdicts): readonly Verdict[] {
  if (verdicts === undefined) return [];
  return "status" in verdicts ? [verdicts] : verdicts.flatMap(flat);
}

type Say = (subject: string, text: string, fix?: string, cause?: string) => Verdict;

const say =
  (status: Status): Say =>
  (subject, text, fix, cause) => ({ status, subject, text, fix, cause });

export const ok: (subject: string, text: string) => Verdict = say("ok");
export const unknown: Say = say("unknown");
export const unread: Say = (...words) => ({ ...unknown(...words), isUnread: true });
export const warning: (subject: string, text: string, fix: string, cause?: string) => Verdict =
  say("warning");
export const problem: (subject: string, text: string, fix: string, cause?: string) => Verdict =
  say("problem");
