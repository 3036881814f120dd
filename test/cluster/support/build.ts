import { join } from "node:path";
import { createGoBuilder } from "../../support/go-build";

/** All of Kubernetes and etcd; what runs in pods. */
export type Program = "kubernetes" | "podprogram";

/** The Kubernetes release that `program/go.mod` names. */
export const KUBERNETES_VERSION = "1.36.3";
export const BIN = join(__dirname, "..", "bin");
const SOURCES = join(__dirname, "..", "program");
const VERSION_PACKAGE = "k8s.io/component-base/version";
const LINKER_FLAGS = [
  "-s",
  "-w",
  `-X ${VERSION_PACKAGE}.gitVersion=v${KUBERNETES_VERSION}`,
  `-X ${VERSION_PACKAGE}.gitMajor=1`,
  `-X ${VERSION_PACKAGE}.gitMinor=${KUBERNETES_VERSION.split(".")[1]}`,
].join(" ");

const go = createGoBuilder(SOURCES);

export const programPath = (program: Program): string => join(BIN, program);

/**
 * Builds Kubernetes with etcd, and what runs in pods, or one of them, unless the very same sources were built before.
 * Kubernetes takes about half an hour on two cores from nothing; `announce` is called when a build starts.
 */
export async function buildPrograms(
  announce: (text: string) => void,
  programs: readonly Program[] = ["kubernetes", "podprogram"],
): Promise<void> {
  const goVersion = await go.version("Go is needed to build Kubernetes");
  const flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", `-ldflags=${LINKER_FLAGS}`];
  for (const program of programs) {
    const patience =
      program === "kubernetes" ? `, of ${KUBERNETES_VERSION}: half an hour the first time` : "";
    await go.build({
      args: [...flags, "-o", programPath(program), `./${program}`],
      key: [goVersion, ...flags],
      isSource: (name) =>
        /^go\.(mod|sum)$/.test(name) || (name.startsWith(`${program}/`) && name.endsWith(".go")),
      stamp: join(BIN, `${program}.sha256`),
      onStart: () => announce(`building the program ${program} with ${goVersion}${patience}`),
    });
  }
}
