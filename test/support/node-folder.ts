import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createTempFolder } from "./temp-folder";

export type NodeFolder = Awaited<ReturnType<typeof createNodeFolder>>;

/** A folder that stands for a node. It lasts as long as its owner wants. */
export async function createNodeFolder() {
  const folder = await createTempFolder();
  const pluginDir = folder.at("reg");
  mkdirSync(pluginDir);
  const files = (): readonly string[] => (existsSync(pluginDir) ? readdirSync(pluginDir) : []);
  return {
    ...folder,
    csiAddress: folder.at("csi.sock"),
    pluginDir,
    socketPathOf: (driverName: string) => folder.at("reg", `${driverName}-reg.sock`),
    files,
    /** What kubelet sees of it, sorted: names with a leading dot are there for moments only. */
    visibleFiles: (): readonly string[] =>
      files()
        .filter((name) => !name.startsWith("."))
        .toSorted(),
  };
}
