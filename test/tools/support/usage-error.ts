import { runCommand } from "../../support/run-command";

/** A line of the CLI that ends with 2, writes nothing to stdout, and one line with the complaint to stderr. */
export async function expectUsageError(words: readonly string[], complaint: RegExp | string): Promise<void> {
  const { status, stdout, stderr } = await runCommand(...words);
  expect(stderr).toMatch(complaint);
  expect(stderr.trimEnd()).not.toContain("\n");
  expect([status, stdout]).toEqual([2, ""]);
}
