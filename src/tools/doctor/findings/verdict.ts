import type { About, Cause } from "./causes";
import type { Closed } from "./opened";

/**
 * How bad it is. `problem`: it keeps a driver from being registered or used. `warning`: it may, or it harms another.
 * `unknown`: what decides it is not known, so that the report is not complete. `skipped`: it cannot be seen from here
 * however well all was read, or no check needs it.
 */
export type Status = "ok" | "skipped" | "unknown" | "warning" | "problem";

/** What a check says of one thing: subject and text make a sentence. */
export interface Sentence<S extends Status = Status> {
  readonly status: S;
  /** A path or a name, as found: it may hold anything. */
  readonly subject: string;
  readonly text: string;
  /** Whether the text is made of something that could not be read completely. */
  readonly isLacking?: boolean | undefined;
  /** What to do about it, in one line; undefined if there is nothing to do. */
  readonly fix?: string | undefined;
  /** What to run, or to paste, for it: in one line, as it is. */
  readonly command?: string | undefined;
  /** Of the problems with equal causes, one is the one to fix. */
  readonly cause?: Cause | undefined;
  readonly about?: About | undefined;
  readonly nodes?: readonly string[] | undefined;
}

/** The same, closed: judges make it, and only reports read it. */
export interface Verdict<S extends Status = Status> extends Closed<Sentence<S>> {}
