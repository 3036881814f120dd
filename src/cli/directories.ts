import { statSync } from "node:fs";

/** Whether `path` is a folder, as far as this process can see. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
