import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createGoBuilder } from "../../support/go-build";

export const KUBERNETES_VERSION = "1.36.3";
export const BIN = join(__dirname, "..", "bin");
const SOURCES = join(__dirname, "..", "program");
const linkerFlags = (version: string) => {
  const values = [`gitVersion=v${version}`, "gitMajor=1", `gitMinor=${version.split(".")[1]}`];
  return ["-s -w", ...values.map((value) => `-X k8s.io/component-base/version.${value}`)].join(" ");
};

const go = createGoBuilder(SOURCES);

export const programPath = (program: "kubernetes" | "podprogram"): string => join(BIN, program);

export const kubernetesPath = (version: string): string =>
  version === KUBERNETES_VERSION ? programPath("kubernetes") : join(BIN, `kubernetes-${version}`);

/** Kubernetes for a part of the cluster: another release where the variable names a build of it. */
export const kubernetesOf = (part: "CONTROL_PLANE" | "NODE"): string =>
  process.env[`${part}_KUBERNETES`] ?? programPath("kubernetes");

export const e2eFolder = (version: string): string => join(BIN, `e2e-${version}`);

/** Writes a go.mod with the requirements of a Kubernetes release, for the module `main`; staging modules by their releases. */
export async function kubernetesModules(version: string, main = "k8s.io/kubernetes"): Promise<string> {
  const kubernetes = await go.download(`k8s.io/kubernetes@v${version}`);
  const folder = e2eFolder(version);
  const file = join(folder, main === "k8s.io/kubernetes" ? "go.mod" : `${basename(main)}.mod`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(join(kubernetes, "go.mod"), "utf8")
    .replace(/^module .*/m, `module ${main}`)
    .replaceAll(/=> \.\/staging\/src\/(\S+)/g, `=> $1 v0.${version.slice(2)}`);
  const self = main === "k8s.io/kubernetes" ? "" : `\nrequire k8s.io/kubernetes v${version}\n`;
  writeFileSync(file, text + self);
  writeFileSync(file.replace(/mod$/, "sum"), readFileSync(join(kubernetes, "go.sum")));
  return file;
}

export const isModuleFile = (name: string) => /^go\.(mod|sum)$/.test(name);

/** Builds programs, unless the very same sources were built before. Kubernetes takes half an hour on two cores from nothing. */
export async function buildPrograms(kubernetesVersion = KUBERNETES_VERSION): Promise<void> {
  for (const program of ["kubernetes", "podprogram"] as const) {
    const version = program === "kubernetes" ? kubernetesVersion : KUBERNETES_VERSION;
    const isOther = version !== KUBERNETES_VERSION;
    const modules = isOther
      ? ["-mod=mod", `-modfile=${await kubernetesModules(version, "registrar/test/cluster")}`]
      : ["-mod=readonly"];
    await go.build({
      what: `the program ${program} of ${version}`,
      file: program === "kubernetes" ? kubernetesPath(version) : programPath(program),
      flags: [...modules, `-ldflags=${linkerFlags(version)}`],
      packages: `./${program}`,
      isSource: (name) => isModuleFile(name) || (name.startsWith(`${program}/`) && name.endsWith(".go")),
    });
  }
}
