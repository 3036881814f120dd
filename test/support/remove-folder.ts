import { renameSync, rmSync } from "node:fs";

/** Removes a folder in one step, as its path has it: file by file, a registrar would put its socket back in between. */
export function removeFolder(folder: string): void {
  renameSync(folder, `${folder}-gone`);
  rmSync(`${folder}-gone`, { recursive: true });
}
