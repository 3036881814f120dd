import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Exit, startChildProcess } from "./child-process";
import type { History } from "./history";

const builtCli = join(__dirname, "..", "..", "..", "dist", "cli.js");

export interface Registrar extends AsyncDisposable {
  /** Its stderr, by line. */
  readonly log: History<string>;
  readonly exited: Promise<Exit>;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly close: () => Promise<void>;
}

/**
 * Spawns the registrar under test: the built CLI, or the program in REGISTRAR_COMMAND (words separated by spaces),
 * so that the suite can be run against another registrar. Resolves when it runs, not when it registered.
 */
export async function startRegistrar(args: readonly string[]): Promise<Registrar> {
  const [command = "", ...words] = registrarCommand();
  const child = await startChildProcess(command, [...words, ...args], String);
  return { ...child, log: child.stderr, [Symbol.asyncDispose]: child.close };
}

function registrarCommand(): readonly string[] {
  const other = process.env.REGISTRAR_COMMAND?.trim();
  if (other) return other.split(/\s+/);
  if (!existsSync(builtCli)) throw new Error(`there is no ${builtCli}: run npm run build first`);
  return [process.execPath, builtCli];
}
