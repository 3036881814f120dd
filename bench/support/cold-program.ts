import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";

/**
 * The same command line with a copy of its program whose pages are not in the page cache, as after a reboot. No other process
 * uses the copy, so its pages are read again, and charged to the control group of the process that reads them.
 */
export function coldProgram([program = "", ...words]: readonly string[], copy: string): readonly string[] {
  copyFileSync(program, copy);
  execFileSync("sync", [copy]);
  execFileSync("dd", [`of=${copy}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"], {
    stdio: "ignore",
  });
  return [copy, ...words];
}
