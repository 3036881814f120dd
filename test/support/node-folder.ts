import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createTempFolder, type TempFolder } from "./temp-folder";

/** A folder that stands for a node. It lasts as long as its owner wants. */
export interface NodeFolder extends TempFolder {
  /** Where the one driver that most tests have listens. */
  readonly csiAddress: string;
  /** The plugin registration directory, which is there. */
  readonly pluginDir: string;
  /** Where a driver's registration socket belongs. */
  socketPathOf(driverName: string): string;
  /** What is in the plugin registration directory. */
  files(): readonly string[];
  /** What kubelet sees of it, sorted: names with a leading dot are there for moments only. */
  visibleFiles(): readonly string[];
}

export async function createNodeFolder(): Promise<NodeFolder> {
  const folder = await createTempFolder();
  const pluginDir = folder.at("reg");
  mkdirSync(pluginDir);
  const files = () => (existsSync(pluginDir) ? readdirSync(pluginDir) : []);
  return {
    ...folder,
    csiAddress: folder.at("csi.sock"),
    pluginDir,
    socketPathOf: (driverName) => folder.at("reg", `${driverName}-reg.sock`),
    files,
    visibleFiles: () =>
      files()
        .filter((name) => !name.startsWith("."))
        .toSorted(),
  };
}
