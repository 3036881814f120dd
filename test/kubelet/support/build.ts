import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run, succeeded } from "../../support/child-process";
import { createGoBuilder } from "../../support/go-build";
import { BETAS, minorOf, programFolder } from "./versions";

export type Program = "kubelet" | "csidriver" | "manifestcheck" | "values";

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
  const release = BETAS[version] ?? version;
  const modules = join(programFolder, "versions", `${release}.mod`);
  const ofBeta = release === version ? undefined : createBetaTree({ version, release, folder, modules });
  await go.build({
    what: `kubelet ${version}`,
    ...{ file: `${folder}/`, flags: goFlags(version, ofBeta?.modules ?? modules), packages: "./..." },
    isSource: (name) => name.endsWith(".go") || name.startsWith(join("versions", `${release}.`)),
    prepare: ofBeta?.prepare,
  });
  await ofBeta?.remove();
}

/** What registers drivers in kubelet: these directories of a beta compile within the tree of the release before it. */
const OF_BETA = [join("pkg", "kubelet", "pluginmanager"), join("pkg", "volume", "csi")];

type Beta = Readonly<Record<"version" | "release" | "folder" | "modules", string>>;

/** A copy of the release's module with the beta's directories, for the time of the build. */
function createBetaTree({ version, release, folder, modules }: Beta) {
  const tree = join(folder, "tree");
  const ofTree = join(folder, "beta.mod");
  const remove = () => rm(tree, { recursive: true, force: true });
  // The module cache is read-only, and modes come with a copy of Node's.
  const copy = async (from: string, to: string) =>
    succeeded(await run("cp", ["-r", "--no-preserve=mode", from, to], { cwd: folder }));
  const prepare = async () => {
    await remove();
    await copy(await go.download(`k8s.io/kubernetes@v${release}`), tree);
    const beta = await go.download(`k8s.io/kubernetes@v${version}`);
    for (const directory of OF_BETA) {
      await rm(join(tree, directory), { recursive: true });
      await copy(join(beta, directory), join(tree, directory));
    }
    const text = await readFile(modules, "utf8");
    await writeFile(ofTree, `${text}\nreplace k8s.io/kubernetes => ${tree}\n`);
    await copyFile(modules.replace(/mod$/, "sum"), ofTree.replace(/mod$/, "sum"));
  };
  return { modules: ofTree, prepare, remove };
}

/**
 * The release's own modules, and a build tag for each minor release up to it, as Go has go1.1 to go1.N: a file for
 * `kubelet1.30` is for that kubelet and all later ones.
 */
function goFlags(version: string, modules: string): readonly string[] {
  const tags = Array.from({ length: minorOf(version) }, (_, index) => `kubelet1.${index + 1}`);
  return ["-mod=readonly", `-modfile=${modules}`, `-tags=${tags.join()}`, "-ldflags=-s -w"];
}
