import { buildPrograms } from "./build";
import { kubeletVersions, newestVersion } from "./versions";

/** Jest's global setup: `--all` on the command line means every kubelet, and all that is tested is built first. */
export default async function globalSetup(): Promise<void> {
  if (process.argv.includes("--all")) process.env.KUBELET_VERSIONS = "all";
  for (const version of new Set([...kubeletVersions(), newestVersion])) {
    await buildPrograms(version);
  }
}
