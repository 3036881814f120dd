import { readdirSync } from "node:fs";
import { join } from "node:path";

export const programFolder = join(__dirname, "..", "program");

/** The release that the CSI driver and the check of manifests are built from; one build of each serves every kubelet. */
export const newestVersion = "1.36.3";

/**
 * The oldest, whose grpc-go and volume host are of 2020; the last that sends the path as :authority, which never retries
 * a refusal either; and one that does neither.
 */
const defaultVersions = ["1.20.15", "1.28.15", newestVersion];

/** Betas, each with the release whose tree and modules it is built on: the module proxy lacks some of what a beta needs. */
export const BETAS: Readonly<Record<string, string>> = {
  "1.38.0-beta.0": "1.37.2",
};

export const minorOf = (version: string) => Number(version.split(".")[1]);

/** Every kubelet that can be built, oldest first: those with a file in program/versions, and the betas. */
export function allVersions(): readonly string[] {
  return readdirSync(join(programFolder, "versions"))
    .filter((name) => name.endsWith(".mod"))
    .map((name) => name.slice(0, -".mod".length))
    .concat(Object.keys(BETAS))
    .sort((a, b) => minorOf(a) - minorOf(b));
}

/** The kubelets that this run tests: those named in KUBELET_VERSIONS (comma-separated, or `all`), else three. */
export function kubeletVersions(): readonly string[] {
  const chosen = process.env.KUBELET_VERSIONS;
  if (!chosen) return defaultVersions;
  const known = allVersions();
  if (chosen === "all") return known;
  const versions = chosen.split(",");
  const unknown = versions.find((version) => !known.includes(version));
  if (unknown) throw new Error(`KUBELET_VERSIONS: there is no kubelet ${unknown} among ${known.join(", ")}`);
  return versions;
}
