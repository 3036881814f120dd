import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { invalidOption, messageOf } from "../errors";
import type { ApiAccess } from "../node-readiness/api/access";
import { accessFromKubeconfig } from "../node-readiness/api/kubeconfig";

/** The way that a kubeconfig file leads. Throws INVALID_OPTION with the file's name. */
export function readKubeconfig(file: string): ApiAccess {
  try {
    return accessFromKubeconfig(parse(readFileSync(file, "utf8")), dirname(resolve(file)));
  } catch (error) {
    throw invalidOption(`KUBECONFIG ${file}: ${messageOf(error)}`, { cause: error });
  }
}
