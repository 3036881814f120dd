import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createNodeFolder as createFolder } from "../../support/node-folder";
import { startKubelet } from "./kubelet";

export type NodeFolder = Awaited<ReturnType<typeof createNodeFolder>>;
export type DriverPaths = Awaited<ReturnType<NodeFolder["addDriver"]>>;
export type Node = Awaited<ReturnType<typeof startNode>>;

/** A node of its own for a kubelet of this release, which ends with it. */
export async function startNode(version: string) {
  const folder = await createNodeFolder();
  const kubelet = await startKubelet({ version, pluginDir: folder.pluginDir });
  return {
    ...folder,
    kubelet,
    [Symbol.asyncDispose]: async () => {
      await kubelet.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A node's folders as kubelet lays them out, in a temporary place. */
export async function createNodeFolder() {
  const folder = await createFolder();
  const { pluginDir } = folder;
  return {
    ...folder,
    /** Makes the folders of one driver. The container's view is a symbolic link, in place of a mount. */
    addDriver: async (name: string) => {
      const hostFolder = folder.at("plugins", name);
      const containerFolder = folder.at(`csi-${name}`);
      await mkdir(hostFolder, { recursive: true });
      await rm(containerFolder, { force: true }); // the driver may have been here before
      await symlink(hostFolder, containerFolder);
      const kubeletRegistrationPath = join(hostFolder, "csi.sock");
      const csiAddress = join(containerFolder, "csi.sock");
      const args = [
        `--csi-address=${csiAddress}`,
        `--kubelet-registration-path=${kubeletRegistrationPath}`,
        `--plugin-registration-path=${pluginDir}`,
      ];
      const registrationSocketPath = folder.socketPathOf(name);
      return { kubeletRegistrationPath, csiAddress, registrationSocketPath, args };
    },
    /** Takes the plugin registration directory away as a whole: file by file a registrar would put its socket back. */
    removePluginDirectory: async () => {
      await rename(pluginDir, `${pluginDir}-gone`);
      await rm(`${pluginDir}-gone`, { recursive: true });
    },
  };
}
