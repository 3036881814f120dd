/**
 * Inputs and what came of each, as one text for a recording: inputs of one outcome share a block. After a change that is meant,
 * `npx jest -u FILE` writes the recording anew; its diff is what the change does.
 */
export function byOutcome(rows: Iterable<readonly [input: string, outcome: string]>): string {
  const blocks = new Map<string, string[]>();
  for (const [input, outcome] of rows) blocks.set(outcome, [...(blocks.get(outcome) ?? []), input]);
  return [...blocks]
    .map(([outcome, inputs]) => [outcome, ...inputs.map((input) => `    <- ${input}`)].join("\n"))
    .sort()
    .join("\n");
}

/** The same for one input with each choice: those of one outcome are one row. */
export function rowsOf(
  input: string,
  choices: readonly string[],
  outcomeOf: (choice: string) => string,
): readonly (readonly [input: string, outcome: string])[] {
  const found = choices.map((choice) => ({ choice, outcome: outcomeOf(choice) }));
  return [...new Set(found.map(({ outcome }) => outcome))].map((outcome) => {
    const own = found.filter((one) => one.outcome === outcome).map(({ choice }) => choice || "(none)");
    return [`${input}: ${own.length === choices.length ? "any" : own.join(" ")}`, outcome];
  });
}
