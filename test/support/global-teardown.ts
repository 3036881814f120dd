import { readdirSync, readFileSync, rmSync } from "node:fs";
import { attempt } from "../../src/base/errors";

export default function globalTeardown(): void {
  const { REGISTRAR_RUN_FOLDER } = process.env;
  if (REGISTRAR_RUN_FOLDER === undefined) return;
  for (const words of endProcessesOf(REGISTRAR_RUN_FOLDER))
    process.stderr.write(`left running by a test, and killed: ${words.join(" ")}\n`);
  rmSync(REGISTRAR_RUN_FOLDER, { recursive: true, force: true });
}

/** Kills what the tests of a run left running, and returns the command lines. */
export function endProcessesOf(runFolder: string): readonly (readonly string[])[] {
  return processesWith(`REGISTRAR_RUN_FOLDER=${runFolder}`).flatMap(({ pid, words }) => {
    if (words[0]?.endsWith("/esbuild")) return []; // The transform's, which ends with this process.
    attempt(() => process.kill(pid, "SIGKILL")); // Unless it has ended by itself meanwhile.
    return [words];
  });
}

/** Those that were started with this variable, as all that tests start. None on systems without /proc. */
function processesWith(variable: string) {
  const numbers = (attempt(() => readdirSync("/proc")) ?? []).map(Number).filter(Number.isInteger);
  return numbers.flatMap((pid) => {
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0");
    // It has ended, or is somebody else's.
    const isOurs = attempt(() => read("environ"))?.includes(variable);
    return isOurs ? [{ pid, words: attempt(() => read("cmdline")) ?? [] }] : [];
  });
}
