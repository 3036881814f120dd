import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { kubernetesOf } from "./build";
import { makeClusterGroup } from "./cgroups";
import type { Images } from "./images";

/** Runs a command inside a cluster's namespaces and control groups: its exit code. Nothing of it outlives this process. */
export async function inOwnCluster(
  command: readonly string[],
  images: Images,
  variables: NodeJS.ProcessEnv = {},
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "registrar-cluster-"));
  const { version, folders, hierarchies } = makeClusterGroup(basename(folder));
  // Outlives this process, however that ends, until everything of the cluster is gone.
  const janitor = spawn("sh", [join(__dirname, "janitor.sh"), folder, ...folders], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
  });
  const swept = once(janitor, "exit");
  try {
    const enterGroups = 'for group in $GROUPS_ENTERED; do echo $$ > "$group/cgroup.procs"; done; exec "$@"';
    // Enters the groups, then the namespaces; dies with this process, and everything inside with it.
    const words = [
      ...["-c", enterGroups, "sh"],
      ...["setpriv", "--pdeathsig=SIGKILL", "unshare", "--fork", "--kill-child", "--mount-proc"],
      ...["--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup"],
      ...["sh", join(__dirname, "enter-cluster.sh"), String(version), ...hierarchies, "--"],
      ...[kubernetesOf("CONTROL_PLANE"), "init", ...command],
    ];
    const own = {
      ...{ GROUPS_ENTERED: folders.join(" "), CLUSTER_FOLDER: folder },
      CLUSTER_IMAGES: JSON.stringify(images),
    };
    const env = { ...process.env, ...variables, ...own };
    const child = spawn("sh", words, { stdio: "inherit", env, cwd: ROOT });
    const [code, signal] = await once(child, "exit");
    return signal === null ? code : 1;
  } finally {
    janitor.stdin.end();
    await swept;
  }
}
