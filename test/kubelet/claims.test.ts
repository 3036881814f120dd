import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startCsiDriver } from "./support/csi-driver";
import { startRegisteredPod } from "./support/driver-pod";
import { httpOf } from "./support/http";
import type { Kubelet } from "./support/kubelet";
import { startNode } from "./support/node-folder";
import { PUBLISHED, startRegistrar } from "./support/registrar";
import { settled } from "./support/settled";
import { kubeletVersions } from "./support/versions";

const name = "disk.csi.example.com";
const POLICIES = ["exit", "retry"] as const;
const HTTP = "--http-endpoint=localhost:0";

const nodeIdOf = (kubelet: Kubelet) => kubelet.objects().csiNode?.spec.drivers[0]?.nodeID;

describe.each(kubeletVersions())("kubelet %s: two drivers claim one name", (version) => {
  test.concurrent.each(POLICIES)(
    "%s: from another directory the second one is refused, and the first one is left alone",
    async (policy) => {
      await using node = await startNode(version);
      await using first = await startRegisteredPod(node, { name, nodeId: "of the first" });

      const claimant = await node.addDriver("claimant");
      const endpoint = claimant.kubeletRegistrationPath;
      await using _driver = await startCsiDriver({ endpoint, name, nodeId: "of the second" });
      const elsewhere = join(node.pluginRegistrationPath, "claimant");
      await mkdir(elsewhere); // Kubelet looks into folders of the directory too.
      await using second = await startRegistrar([
        ...claimant.args,
        `--plugin-registration-path=${elsewhere}`,
        `--on-registration-failure=${policy}`,
        HTTP,
      ]);
      await second.says("already registered with a higher supported version");
      if (policy === "exit") expect(await second.exited).toEqual({ code: 1, signal: null });
      else {
        await second.says("by a socket that cannot be found");
        expect(await (await httpOf(second)).status("/readyz")).toBe(503);
      }
      await settled(node);

      expect(nodeIdOf(node.kubelet)).toBe("of the first");
      expect(first.registrar.count(PUBLISHED)).toBe(1);
      expect(node.kubelet.events.all().filter(({ event }) => event === "deregister")).toHaveLength(1); // settled()'s
    },
  );
});
