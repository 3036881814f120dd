import type { Contestant } from "./support/contestants";

/** What a measurement works with. */
export interface Bench {
  /** The Node under measurement. */
  readonly node: string;
  /** The CLI with the image's code cache, and without. */
  readonly cached: Contestant;
  readonly plain: Contestant;
  /** Undefined where --official was not given. */
  readonly official: Contestant | undefined;
  /** Of kubelet's real code. */
  readonly kubelet: string;
  /** Only what has this text in its name. */
  readonly only: string;
  readonly atOnce: number;
  readonly minutes: number;
  readonly seed: number;
  readonly keepsLogs: boolean;
  readonly say: (line: string) => void;
}

export interface Measurement {
  /** The script of package.json, which the section of docs/measurements.md names. */
  readonly command: string;
  /** Kubelet releases whose real code it needs. */
  readonly kubelets: (chosen: string) => readonly string[];
  /** Resolves with Markdown; rejects if a figure is not good enough to be written. */
  readonly run: (bench: Bench) => Promise<string>;
}

/** A row of the table: what, ours, the official one's. */
export type Row = readonly [what: string, ours: string, official: string];
