import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Cluster } from "./cluster";

/** Installs the CustomResourceDefinition in a file, its path relative to `crds/` or absolute; resolves when the API server serves its objects. */
export async function installCrd(cluster: Cluster, file: string): Promise<void> {
  const path = resolve(__dirname, "crds", file);
  await cluster.apply(readFileSync(path, "utf8"));
  await cluster.controlPlane.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", path);
}
