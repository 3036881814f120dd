import { readdirSync, readFileSync, rmSync } from "node:fs";

export default function globalTeardown(): void {
  const { REGISTRAR_RUN_FOLDER } = process.env;
  if (REGISTRAR_RUN_FOLDER === undefined) return;
  for (const { pid, words } of processesWith(`REGISTRAR_RUN_FOLDER=${REGISTRAR_RUN_FOLDER}`)) {
    if (words[0]?.endsWith("/esbuild")) continue; // The transform's, which ends with this process.
    process.stderr.write(`left running by a test, and killed: process ${pid}, ${words.join(" ")}\n`);
    kill(pid);
  }
  rmSync(REGISTRAR_RUN_FOLDER, { recursive: true, force: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself meanwhile.
  }
}

/**
 * Those that were started with this variable, as all that tests start: one that a test started which ran out of time would
 * live on. None on systems without /proc.
 */
function processesWith(
  variable: string,
): readonly { readonly pid: number; readonly words: readonly string[] }[] {
  return numbersIn("/proc").flatMap((pid) => {
    try {
      const [environment, words] = ["environ", "cmdline"].map((name) =>
        readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0"),
      );
      return environment?.includes(variable) ? [{ pid, words: words ?? [] }] : [];
    } catch {
      return []; // It has ended, or is somebody else's.
    }
  });
}

function numbersIn(folder: string): readonly number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
