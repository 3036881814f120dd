import { type LoggerOption, type ServedCsiDriver, serveCsiDriver, unaryHandler } from "registrar";
import { csi, failure, type IdentityHandlers, type NodeHandlers } from "./csi.ts";
import { checkTarget, parseMedium, publish, unpublish } from "./volumes.ts";

export const NAME = "scratch.example.com";
const VERSION = "0.1.0";

export interface ScratchDriverOptions {
  /** Where to listen, by the path in here. */
  readonly csiAddress: string;
  /** The same socket by its path on the host. */
  readonly endpoint: string;
  /** Where the registration socket goes. */
  readonly pluginRegistrationPath: string;
  readonly nodeId: string;
  /** Kubelet's directory of pods, which must have the same path in here. */
  readonly podsDirectory: string;
  readonly signal?: AbortSignal;
  readonly logger?: LoggerOption;
}

/** Starts the driver: it listens, then registers itself with kubelet. */
export function startScratchDriver(options: ScratchDriverOptions): Promise<ServedCsiDriver> {
  const { nodeId, podsDirectory, ...serving } = options;

  const identity: IdentityHandlers = {
    GetPluginInfo: unaryHandler(() => ({ name: NAME, vendorVersion: VERSION })),
    GetPluginCapabilities: unaryHandler(() => ({})),
    Probe: unaryHandler(() => ({})),
  };

  const node: NodeHandlers = {
    NodeGetInfo: unaryHandler(() => ({ nodeId })),
    NodeGetCapabilities: unaryHandler(() => ({})),
    NodePublishVolume: unaryHandler(async (request) => {
      const { targetPath, volumeCapability, volumeContext } = request;
      checkTarget(targetPath, podsDirectory);
      if (volumeContext["csi.storage.k8s.io/ephemeral"] !== "true")
        throw failure("INVALID_ARGUMENT", `${NAME} has inline volumes only, declared in the pod`);
      if (volumeCapability?.block) throw failure("INVALID_ARGUMENT", "there are no block volumes");
      // Kubelet itself mounts a volume with `readOnly` read-only into the containers.
      await publish(targetPath, parseMedium(volumeContext));
      return {};
    }),
    NodeUnpublishVolume: unaryHandler(async ({ targetPath }) => {
      checkTarget(targetPath, podsDirectory);
      await unpublish(targetPath);
      return {};
    }),
  };

  return serveCsiDriver({
    ...serving,
    addServices: (server) => {
      server.addService(csi.identity, identity);
      server.addService(csi.node, node);
    },
  });
}
