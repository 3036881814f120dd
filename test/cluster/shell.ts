// Runs inside a cluster's namespaces, started by main.ts: a shell with kubectl, registrar and the images of the documents.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKeeper } from "../../bench/keeper";
import { ROOT } from "../docs/markdown";
import { runMain } from "../support/run-main";
import { createTempFolder } from "../support/temp-folder";
import { kubectlEnvironment, startCluster } from "./support/cluster";
import { IMAGES, officialProgram } from "./support/images";
import type { Node } from "./support/node";
import { run } from "./support/own-cluster";
import { insideOf } from "./support/stage";

const NAMES = {
  "example.com/registrar:v0.1.0": IMAGES.ours,
  "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0": officialProgram
    ? IMAGES.official
    : IMAGES.ours,
  "registry.k8s.io/sig-storage/hostpathplugin:v1.17.1": IMAGES.driver,
};

async function main(): Promise<number> {
  await using keeper = createKeeper();
  const folder = keeper.keep(await createTempFolder());
  const inside = insideOf(keeper.keep(await startCluster()));
  await nameImages(inside.node);
  for (let number = 2; number <= Number(process.env.CLUSTER_NODES); number++)
    await nameImages(keeper.keep(await inside.addNode(number)));
  const cli = `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, "dist", "cli.js")} "$@"\n`;
  writeFileSync(folder.at("registrar"), cli, { mode: 0o755 });
  // Without await the cluster would end before the shell.
  return await run([process.env.SHELL ?? "sh"], kubectlEnvironment(folder.path, inside));
}

async function nameImages(node: Node): Promise<void> {
  for (const [name, image] of Object.entries(NAMES)) {
    await node.run("ctr", "--namespace=k8s.io", "images", "tag", "--force", image, name);
    process.stderr.write(`${node.name}: ${name} is ${image}\n`);
  }
}

runMain(main);
