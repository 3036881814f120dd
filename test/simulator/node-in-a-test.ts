import { startCsiDriver } from "../../src/simulator/csi-driver";
import type { CsiDriverOptions } from "../../src/simulator/csi-driver-options";
import { type KubeletEventOf, startKubelet } from "../../src/simulator/kubelet";
import type { KubeletEvent } from "../../src/simulator/kubelet-events";
import type { KubeletOptions } from "../../src/simulator/kubelet-options";
import type { SimulatorContext } from "../../src/simulator/simulator-context";
import { type FakeRegistrarOptions, makeNodeFolder, startFakeRegistrar } from "./fake-registrar";

/** The parts of a node for one test, all in one folder, all ended together. */
export async function makeNode() {
  const folder = await makeNodeFolder();
  const ends: (() => Promise<void>)[] = [];
  const keep = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    ends.push(() => part.close());
    return part;
  };
  return {
    ...folder,
    kubelet: async (options: Partial<KubeletOptions> = {}, context?: SimulatorContext) =>
      keep(await startKubelet({ pluginDir: folder.pluginDir, reconcilePeriodMs: 10, ...options }, context)),
    driver: async (options: Partial<CsiDriverOptions> = {}) =>
      keep(await startCsiDriver({ csiAddress: folder.csiAddress, name: "x.csi", nodeId: "n1", ...options })),
    registrar: async ({ info, ...options }: Partial<FakeRegistrarOptions> = {}) =>
      keep(
        await startFakeRegistrar({
          socketPath: folder.socketPath,
          info: { endpoint: folder.csiAddress, ...info },
          ...options,
        }),
      ),
    end: async () => {
      for (const end of ends.reverse()) await end();
      await folder.remove();
    },
  };
}

/** The events of these kinds so far. */
export function eventsOf<Kind extends KubeletEvent["kind"]>(
  { events }: { readonly events: { history(): readonly KubeletEvent[] } },
  kind: Kind,
): KubeletEventOf<Kind>[] {
  return events.history().filter((event): event is KubeletEventOf<Kind> => event.kind === kind);
}
