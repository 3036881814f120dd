import { join } from "node:path";
import { createGoBuilder } from "../../support/go-build";
import { programFolder } from "./versions";

export type Program = "kubelet" | "csidriver" | "probe" | "manifestcheck" | "values";

const go = createGoBuilder(programFolder);
const binFolder = join(__dirname, "..", "bin");

export function programPath(program: Program, version: string): string {
  return join(binFolder, version, program);
}

/**
 * Builds what there is to build for one kubelet release, unless the very same inputs were built before.
 * A build from nothing takes about 100 s on two cores.
 */
export async function buildPrograms(version: string): Promise<void> {
  const folder = join(binFolder, version);
  const args = ["build", ...goFlags(version), "-trimpath", "-ldflags=-s -w", "-o", `${folder}/`, "./..."];
  await go.build({
    what: `kubelet ${version}`,
    ...{ args, key: args },
    isSource: (name) => name.endsWith(".go") || name.startsWith(join("versions", `${version}.`)),
    stamp: join(folder, "inputs.sha256"),
  });
}

/**
 * The release's own modules, and a build tag for each minor release up to it, as Go has go1.1 to go1.N: a file for
 * `kubelet1.30` is for that kubelet and all later ones.
 */
function goFlags(version: string): readonly string[] {
  const minor = Number(version.split(".")[1]);
  const tags = Array.from({ length: minor }, (_, index) => `kubelet1.${index + 1}`);
  return ["-mod=readonly", `-modfile=versions/${version}.mod`, `-tags=${tags.join()}`, "-buildvcs=false"];
}
