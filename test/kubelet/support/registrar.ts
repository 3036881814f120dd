import type { StateName } from "../../../src/registrar/model/state";
import { type Exit, startChildProcess } from "../../support/child-process";
import type { History } from "../../support/history";
import { registrarCommand } from "../../support/registrar-command";

/** What the log says each time that a registration socket has been put in place. */
export const PUBLISHED = "Registration Server started";

const STATE_CHANGED = '"Registration state changed"';

export interface Registrar extends AsyncDisposable {
  /** Its stderr, by line. */
  readonly log: History<string>;
  readonly exited: Promise<Exit>;
  /** Resolves when the log says that this state was reached for the nth time, the first unless told. */
  readonly reached: (state: StateName, nth?: number) => Promise<void>;
  /** Resolves when the log has a line with this text, be it long ago. */
  readonly says: (text: string) => Promise<string>;
  /** How many lines of the log have this text. */
  readonly count: (text: string) => number;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly close: () => Promise<void>;
}

/** Spawns the registrar under test. Resolves when it runs, not when it registered. */
export async function startRegistrar(
  args: readonly string[],
  [program = "", ...words]: readonly string[] = registrarCommand(),
): Promise<Registrar> {
  const child = await startChildProcess(program, [...words, ...args], String);
  const log = child.stderr;
  const says = (text: string) => log.waitFor((line) => line.includes(text));
  const reached = async (state: StateName, nth = 1) => {
    let times = 0;
    const isIt = (line: string) => line.includes(STATE_CHANGED) && line.includes(` to="${state}"`);
    await log.waitFor((line) => isIt(line) && ++times === nth);
  };
  const count = (text: string) => log.all().filter((line) => line.includes(text)).length;
  return { ...child, log, says, reached, count };
}
