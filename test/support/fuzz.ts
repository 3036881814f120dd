import * as fc from "fast-check";

const { FUZZ_SEED, FUZZ_RUNS, FUZZ_PATH } = process.env;
const SEED = Number(FUZZ_SEED ?? 7_541);
const LIMIT_MS = FUZZ_RUNS === undefined ? 120_000 : 3_600_000;

/** A test of made-up input, the same in every run. FUZZ_SEED makes up other, FUZZ_RUNS how much, FUZZ_PATH leads to a failure. */
export function propertyTest<Input>(
  name: string,
  { runs, given }: { readonly runs: number; readonly given: fc.Arbitrary<Input> },
  holds: (input: Input) => void | Promise<void>,
): void {
  const property = fc.asyncProperty(given, async (input) => holds(input));
  const parameters = {
    seed: SEED,
    numRuns: Number(FUZZ_RUNS ?? runs),
    ...(FUZZ_PATH !== undefined && { path: FUZZ_PATH, endOnFailure: true }),
    asyncReporter: report<Input>,
  };
  test(name, () => fc.assert(property, parameters), LIMIT_MS);
}

async function report<Input>(details: fc.RunDetails<[Input]>): Promise<void> {
  if (!details.failed) return;
  const { seed, counterexamplePath } = details;
  const again = `FUZZ_SEED=${seed} FUZZ_PATH=${counterexamplePath} npx jest -t '${expect.getState().currentTestName}'`;
  throw new Error(`${fc.defaultReportMessage(details)}\n\nAgain: ${again}`, { cause: details.errorInstance });
}
