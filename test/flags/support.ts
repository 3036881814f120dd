import { type Flags, parseFlags } from "../../src/flags/table";

/** The flags of a command line that is accepted. */
export function flagsOf(...argv: readonly string[]): Flags {
  const line = parseFlags(argv);
  if (line.kind !== "flags") throw new Error(`not accepted: ${JSON.stringify(line)}`);
  return line.flags;
}
