import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "../../support/remove-folder";
import { createTempFolder } from "../../support/temp-folder";

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
  const folder = await createTempFolder();
  const root = folder.path;
  const pluginRegistrationPath = join(root, "plugins_registry");
  await mkdir(pluginRegistrationPath);

  async function addDriver(name: string): Promise<DriverPaths> {
    const hostFolder = join(root, "plugins", name);
    const containerFolder = join(root, `csi-${name}`);
    await mkdir(hostFolder, { recursive: true });
    await rm(containerFolder, { force: true }); // the driver may have been here before
    await symlink(hostFolder, containerFolder);
    const kubeletRegistrationPath = join(hostFolder, "csi.sock");
    const csiAddress = join(containerFolder, "csi.sock");
    return {
      kubeletRegistrationPath,
      csiAddress,
      registrationSocketPath: join(pluginRegistrationPath, `${name}-reg.sock`),
      args: [
        `--csi-address=${csiAddress}`,
        `--kubelet-registration-path=${kubeletRegistrationPath}`,
        `--plugin-registration-path=${pluginRegistrationPath}`,
      ],
    };
  }
  async function visibleSockets(): Promise<readonly string[]> {
    return (await readdir(pluginRegistrationPath)).filter((name) => !name.startsWith("."));
  }
  async function removePluginDirectory(): Promise<void> {
    removeFolder(pluginRegistrationPath);
  }
  return {
    pluginRegistrationPath,
    addDriver,
    removePluginDirectory,
    visibleSockets,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
