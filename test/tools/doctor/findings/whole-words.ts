import type { Sentence } from "../../../../src/tools/doctor/findings/finding";

/** What a text has where a value is missing in it, or a part of it. */
const LACK = /^$|^\s|\s$|\bundefined\b|\bNaN\b|\[object |[:;,] ?(?:[;,)]|$)/;

type Words = Pick<Sentence, "text"> & {
  readonly [part in "fix" | "command"]?: string | null | undefined;
};

/** The same findings. Throws for one that says nothing, or not all, to a person. */
export function inWholeWords<Findings extends readonly Words[]>(findings: Findings): Findings {
  for (const { text, fix, command } of findings)
    for (const words of [text, fix, command])
      if (typeof words === "string" && LACK.test(words)) throw new Error(`words are missing: "${words}"`);
  return findings;
}
