import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";

/** Copies a program so that its pages are not in the page cache: no other process uses them. */
export function copyCold(program: string, copy: string): void {
  copyFileSync(program, copy);
  execFileSync("sync", [copy]);
  execFileSync("dd", [`of=${copy}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"], {
    stdio: "ignore",
  });
}
