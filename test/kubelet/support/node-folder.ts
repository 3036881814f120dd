import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createNodeFolder as createFolder } from "../../support/node-folder";
import { removeFolder } from "../../support/remove-folder";

export interface DriverPaths {
  /** The CSI driver socket as the host, and so kubelet, sees it. */
  readonly kubeletRegistrationPath: string;
  /** The same socket as seen in the registrar's container. */
  readonly csiAddress: string;
  readonly registrationSocketPath: string;
  /** The registrar's arguments for this driver. */
  readonly args: readonly string[];
}

/** A node's folders as kubelet lays them out, in a temporary place. */
export interface NodeFolder extends AsyncDisposable {
  readonly pluginRegistrationPath: string;
  /** Makes the folders of one driver. The container's view is a symbolic link, in place of a mount. */
  readonly addDriver: (name: string) => Promise<DriverPaths>;
  /** Takes the plugin registration directory away as a whole: file by file a registrar would put its socket back. */
  readonly removePluginDirectory: () => Promise<void>;
  /** The names in the plugin registration directory that kubelet does not pass over. */
  readonly visibleSockets: () => Promise<readonly string[]>;
}

export async function createNodeFolder(): Promise<NodeFolder> {
  const folder = await createFolder();
  const { pluginDir } = folder;

  async function addDriver(name: string): Promise<DriverPaths> {
    const hostFolder = folder.at("plugins", name);
    const containerFolder = folder.at(`csi-${name}`);
    await mkdir(hostFolder, { recursive: true });
    await rm(containerFolder, { force: true }); // the driver may have been here before
    await symlink(hostFolder, containerFolder);
    const kubeletRegistrationPath = join(hostFolder, "csi.sock");
    const csiAddress = join(containerFolder, "csi.sock");
    return {
      kubeletRegistrationPath,
      csiAddress,
      registrationSocketPath: folder.socketPathOf(name),
      args: [
        `--csi-address=${csiAddress}`,
        `--kubelet-registration-path=${kubeletRegistrationPath}`,
        `--plugin-registration-path=${pluginDir}`,
      ],
    };
  }
  return {
    pluginRegistrationPath: pluginDir,
    addDriver,
    removePluginDirectory: async () => removeFolder(pluginDir),
    visibleSockets: async () => folder.visibleFiles(),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
