import { statSync } from "node:fs";

/** Whether `path` is a folder that can be looked at. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
