// Runs inside a cluster's namespaces, started by main.ts: a shell for a person, with the cluster's kubectl and this registrar in PATH.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKeeper } from "../../bench/keeper";
import { ROOT } from "../docs/markdown";
import { runMain } from "../support/run-main";
import { createTempFolder } from "../support/temp-folder";
import { kubectlEnvironment, startCluster } from "./support/cluster";
import { run } from "./support/own-cluster";
import { insideOf } from "./support/stage";

async function main(): Promise<number> {
  await using keeper = createKeeper();
  const folder = keeper.keep(await createTempFolder());
  const inside = insideOf(keeper.keep(await startCluster()));
  for (let node = 2; node <= Number(process.env.CLUSTER_NODES); node++)
    keeper.keep(await inside.addNode(node));
  const cli = `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, "dist", "cli.js")} "$@"\n`;
  writeFileSync(folder.at("registrar"), cli, { mode: 0o755 });
  return run([process.env.SHELL ?? "sh"], kubectlEnvironment(folder.path, inside));
}

runMain(main);
