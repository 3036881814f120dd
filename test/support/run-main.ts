import { type ParseArgsConfig, parseArgs } from "node:util";

/** For a person who watches a command at work: on stderr. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
/** What a command was asked for: on stdout. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Runs the main function of a command: a number that it resolves with is the exit code; after an error, which goes to stderr, it is 1. */
export function runMain(main: () => Promise<unknown>): void {
  main().then(
    (code) => {
      if (typeof code === "number") process.exitCode = code;
    },
    (error: unknown) => {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      process.exitCode = 1;
    },
  );
}

/** The kinds of flags. */
export const FLAG = { type: "boolean" } as const;
export const TEXT = { type: "string" } as const;
export const TEXTS = { type: "string", multiple: true } as const;

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<Given extends Options> = ReturnType<typeof parseArgs<{ readonly options: Given }>>["values"];

/** The same with the values of its flags; `--help` prints the usage. */
export function runWithFlags<Given extends Options>(
  usage: string,
  options: Given,
  main: (values: Values<Given>) => Promise<unknown>,
): void {
  runMain(async () => {
    if (process.argv.includes("--help")) return print(usage);
    return main(parseArgs({ options }).values);
  });
}

/** Tries every row, `atOnce` at a time, and prints what came of it. One whose trial rejects is "failed": the exit code is 1. */
export async function tryRows<Row, Outcome extends string>(
  rows: readonly Row[],
  titleOf: (row: Row) => string,
  attempt: (row: Row) => Promise<Outcome>,
  atOnce = 1,
): Promise<readonly (Outcome | "failed")[]> {
  const outcomes: (Outcome | "failed")[] = [];
  const waiting = rows.entries();
  const work = async () => {
    for (const [index, row] of waiting) {
      const [outcome, text] = await attempt(row).then(
        (one) => [one, one],
        ({ message }: Error) => ["failed", `failed: ${message}`] as const,
      );
      if (outcome === "failed") process.exitCode = 1;
      outcomes[index] = outcome;
      print(`${titleOf(row)}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}
