import { readFile } from "node:fs/promises";
import { delimiter, dirname, resolve } from "node:path";
import { invalidOption, messageOf } from "../base/errors";
import { callFileSystem } from "../unix/file-calls";
import type { ApiAccess } from "./access";
import { accessFromKubeconfig } from "./kubeconfig";
import { readYaml } from "./yaml";

/** Reads the file that KUBECONFIG names, within 2 s. Rejects with INVALID_OPTION, also for a list of files. */
export async function readKubeconfig(file: string): Promise<ApiAccess> {
  try {
    if (file.includes(delimiter))
      throw new Error("give one file: kubectl config view --flatten --minify makes one of several");
    const path = resolve(file);
    const text = await callFileSystem(path, () => readFile(path, "utf8"));
    return accessFromKubeconfig(readYaml(text), dirname(path));
  } catch (error) {
    throw invalidOption(`KUBECONFIG ${file}: ${messageOf(error)}`, { cause: error });
  }
}
