/** A small wrong change of the product that the tests must notice. */
export interface Mutant {
  readonly what: string;
  readonly file: string;
  /** Stands in the file once, so that a change of the code is noticed here. */
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

export interface Result {
  mutants: number;
  noticed: number;
}

/** By what a user would suffer: the text that is left out, or what it becomes, and tests other than the file's. */
type Changes = Readonly<
  Record<string, string | readonly [from: string, to: string, tests?: readonly string[]]>
>;

export function mutantsOf(file: string, tests: readonly string[], changes: Changes): readonly Mutant[] {
  return Object.entries(changes).map(([what, change]) => {
    const [from, to, others = tests] = typeof change === "string" ? [change, ""] : change;
    return { what, file, from, to, tests: others };
  });
}

/** The file's text with the change in it; throws where the text to be changed is not there, or more than once. */
export function mutated(text: string, { file, from, to }: Pick<Mutant, "file" | "from" | "to">): string {
  const [before, after, ...others] = text.split(from);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(`${file} does not have this once: ${from}`);
  return `${before}${to}${after}`;
}
