import type { Facts } from "./facts";

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
  readonly cure: string | undefined;
}

/** A verdict and the check that came to it. */
export interface Finding extends Verdict {
  readonly check: string;
}

/** One question to the facts. */
export interface Check {
  /** Stable: programs go by it. */
  readonly name: string;
  /** None where the question does not arise. */
  readonly findings: (facts: Facts) => readonly Finding[];
}

type Situation = { readonly kind: string };

/** For each kind of situation what is to be said of it; null or false: nothing. */
export type Verdicts<Found extends Situation> = {
  readonly [Kind in Found["kind"]]: ((situation: Found & { readonly kind: Kind }) => Verdict | false) | null;
};

/** A check is the situations that it tells apart, and a verdict on each kind of them. */
export function check<Situations extends readonly Situation[]>(
  name: string,
  situationsIn: (facts: Facts) => Situations,
  verdicts: Verdicts<Situations[number]>,
): Check {
  const verdictOn = verdicts as Readonly<Record<string, ((situation: Situation) => Verdict | false) | null>>;
  return {
    name,
    findings: (facts) =>
      situationsIn(facts).flatMap((situation) => {
        const verdict = verdictOn[situation.kind]?.(situation);
        return verdict ? [{ check: name, ...verdict }] : [];
      }),
  };
}

export const ok = (subject: string, text: string): Verdict => ({
  status: "ok",
  subject,
  text,
  cure: undefined,
});

export const unknown = (subject: string, text: string, cure?: string): Verdict => ({
  status: "unknown",
  subject,
  text,
  cure,
});

export const warning = (subject: string, text: string, cure: string): Verdict => ({
  status: "warning",
  subject,
  text,
  cure,
});

export const problem = (subject: string, text: string, cure: string): Verdict => ({
  status: "problem",
  subject,
  text,
  cure,
});
