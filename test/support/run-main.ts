export const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the main function of a command: a number that it resolves with is the exit code; after an error, which goes to stderr, it is 1. */
export function runMain(main: () => Promise<unknown>): void {
  main().then(
    (code) => {
      if (typeof code === "number") process.exitCode = code;
    },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
