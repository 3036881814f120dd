// What the scripts of a release share: how they read their words, and how they call programs.
import { execFileSync } from "node:child_process";

/** The words of this script, and the flags after `--`, which are another program's. */
export function readWords() {
  const words = process.argv.slice(2);
  const end = words.indexOf("--");
  return end === -1 ? { words, flags: [] } : { words: words.slice(0, end), flags: words.slice(end + 1) };
}

/** Calls a program, which prints to this one's terminal; throws unless it ends with 0. */
export function run(program, ...args) {
  execFileSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
}
