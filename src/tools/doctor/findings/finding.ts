import type { About, Cause } from "./causes";
import { sortedBy } from "./grouped";
import { type Said, saidIn } from "./seen";

/**
 * How bad it is. `problem`: it keeps a driver from being registered or used. `warning`: it may, or it harms another.
 * `unknown`: what decides it is not known, so that the report is not complete. `skipped`: it cannot be seen from here
 * however well all was read, or no check needs it.
 */
export type Status = "ok" | "skipped" | "unknown" | "warning" | "problem";

/** What a check says of one thing: subject and text make a sentence. */
export interface Verdict {
  readonly status: Status;
  /** A path or a name, as found: it may hold anything. */
  readonly subject: string;
  readonly text: string;
  /** What to do about it, in one line; undefined if there is nothing to do. */
  readonly fix?: string | undefined;
  /** What to run, or to paste, for it: in one line, as it is. */
  readonly command?: string | undefined;
  /** Of the problems with equal causes, one is the one to fix. */
  readonly cause?: Cause | undefined;
  readonly about?: About | undefined;
  readonly nodes?: readonly string[] | undefined;
}

export interface Finding extends Verdict {
  readonly code: string;
  readonly check: string;
}

/** What a check says: of one thing, of several, or nothing if the question does not arise. */
export type Verdicts = Said<Verdict>;
export type Nested<One> = One | undefined | readonly Nested<One>[];

export type Check<Seen> = ReturnType<typeof check<Seen>>;

/**
 * One question to the facts, and what each answer means. Programs and links go by the code and the name, which are stable;
 * together they are a heading in docs/doctor-codes.md.
 */
export const check = <Seen>(code: string, name: string, verdicts: (facts: Seen) => Verdicts) =>
  ({ code, name, verdicts }) as const;

/** Runs the checks in order of their codes: a cause has a lower one than what follows from it. */
export function findingsOf<Seen>(checks: readonly Check<Seen>[], facts: Seen): readonly Finding[] {
  return sortedBy(checks, ({ code }) => code).flatMap(({ code, name, verdicts }) =>
    saidIn(verdicts(facts)).map((verdict) => ({ code, check: name, ...verdict })),
  );
}

/** That of the first. */
export const causeIn = (said: Verdicts): Cause | undefined => saidIn(said)[0]?.cause;

/** The same for two findings that are one: of a check on a container of an object, whatever they say. */
export const keyOf = ({ code, status, about, subject }: Finding): string =>
  JSON.stringify([code, status, about ? [about.object, about.container] : subject]);

export function flat<One extends Pick<Verdict, "status">>(nested: Nested<One>): readonly One[] {
  if (nested === undefined) return [];
  return "status" in nested ? [nested] : nested.flatMap((one) => flat(one));
}

/** What to do, and the command for it: together they are a sentence. */
export interface Run {
  readonly fix: string;
  readonly command: string;
}
export type Advice = string | Run;
/** A verdict of this status: what is unknown is neither ok nor a problem (see `Truth`). */
type Of<S extends Status> = Verdict & { readonly status: S };
type SayWithFix<S extends Status> = (subject: string, text: string, fix: Advice, cause?: Cause) => Of<S>;

const say =
  <S extends Status>(status: S) =>
  (subject: string, text: string, fix?: Advice, cause?: Cause): Of<S> => ({
    ...{ status, subject, text, cause },
    ...(typeof fix === "object" ? fix : { fix }),
  });

export const ok: (subject: string, text: string) => Of<"ok"> = say("ok");
export const skipped: SayWithFix<"skipped"> = say("skipped");
export const unknown = say("unknown");
export const warning: SayWithFix<"warning"> = say("warning");
export const problem: SayWithFix<"problem"> = say("problem");
