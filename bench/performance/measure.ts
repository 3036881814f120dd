import type { Contestants } from "./contestants";

/** What a measure works with. */
export interface Bench {
  /** The Node under measurement. */
  readonly node: string;
  readonly contestants: Contestants;
  /** How often to measure: `full`, or about a quarter of it in a quick run. */
  readonly rounds: (full: number) => number;
  /** How long to wait for rest, likewise. */
  readonly restMs: (full: number) => number;
  /** A kubelet release that is built; undefined where none is. */
  readonly kubelet: string | undefined;
  readonly say: (line: string) => void;
}

/** Something that is measured. */
export interface Measure {
  /** For `--only`. */
  readonly name: string;
  readonly run: (bench: Bench) => Promise<Finding>;
}

export interface Finding {
  readonly tables: readonly Table[];
  readonly verdicts: readonly Verdict[];
  /** What was left out and why. */
  readonly skipped?: readonly string[];
}

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How to read it. */
  readonly note?: string;
}

/** A budget of the project and what was measured. */
export interface Verdict {
  readonly what: string;
  readonly budget: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** The official registrar's, where it has one. */
  readonly official?: string | undefined;
}

/** Two times of which the second, times `most`, is the bound of the first. */
export function ratioVerdict(
  what: string,
  {
    ms,
    of,
    ofMs,
    most,
    officialMs,
  }: {
    readonly ms: number;
    readonly of: string;
    readonly ofMs: number;
    readonly most: number;
    readonly officialMs?: number | undefined;
  },
): Verdict {
  return {
    what,
    budget: `<= ${most} times ${of}`,
    measured: `${ms.toFixed(0)} ms, ${(ms / ofMs).toFixed(2)} times`,
    isMet: ms / ofMs <= most,
    official: officialMs === undefined ? undefined : `${officialMs.toFixed(0)} ms`,
  };
}

export const skipped = (...reasons: readonly string[]): Finding => ({
  tables: [],
  verdicts: [],
  skipped: reasons,
});
