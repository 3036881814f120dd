import type { StateName } from "../../../src/registrar/model/state";
import { startChildProcess } from "../../support/child-process";
import { registrarCommand } from "../../support/registrar-command";

/** What the log says each time that a registration socket has been put in place. */
export const PUBLISHED = "Registration Server started";

/** Spawns the registrar under test. Resolves when it runs, not when it registered. */
export async function startRegistrar(
  args: readonly string[],
  [program = "", ...words]: readonly string[] = registrarCommand(),
) {
  const child = await startChildProcess(program, [...words, ...args], String);
  const { stderr: log } = child;
  return {
    ...child,
    log,
    /** Resolves when the log has a line with this text, be it long ago. */
    says: (text: string) => log.waitFor((line) => line.includes(text)),
    /** Resolves when the log says that this state was reached for the nth time, the first unless told. */
    reached: async (state: StateName, nth = 1): Promise<void> => {
      const isIt = (line: string) =>
        line.includes('"Registration state changed"') && line.includes(` to="${state}"`);
      let times = 0;
      await log.waitFor((line) => isIt(line) && ++times === nth);
    },
    count: (text: string) => log.all().filter((line) => line.includes(text)).length,
  };
}
