import { readFileSync } from "node:fs";
import { delimiter, dirname, resolve } from "node:path";
import { parse } from "yaml";
import { invalidOption, messageOf } from "../base/errors";
import type { ApiAccess } from "./access";
import { accessFromKubeconfigs, type Kubeconfig } from "./kubeconfig";

/** Reads the files that KUBECONFIG lists; missing ones of several are skipped. Throws INVALID_OPTION. */
export function readKubeconfig(list: string): ApiAccess {
  const files = list.split(delimiter).filter((file) => file !== "");
  try {
    const found = files.flatMap((file) => readFile(file, files.length > 1));
    if (found.length === 0) throw new Error("none of these files exists");
    return accessFromKubeconfigs(found);
  } catch (error) {
    throw invalidOption(`KUBECONFIG ${list}: ${messageOf(error)}`, { cause: error });
  }
}

function readFile(file: string, mayBeMissing: boolean): readonly Kubeconfig[] {
  try {
    return [{ config: parse(readFileSync(file, "utf8")), directory: dirname(resolve(file)) }];
  } catch (error) {
    if (mayBeMissing && (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
