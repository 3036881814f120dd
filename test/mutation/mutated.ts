import type { Mutant } from "./mutant";

/** The file's text with the change in it; throws where the text to be changed is not there, or more than once. */
export function mutated(text: string, { file, from, to }: Pick<Mutant, "file" | "from" | "to">): string {
  const [before, after, ...others] = text.split(from);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(`${file} does not have this once: ${from}`);
  return `${before}${to}${after}`;
}
