import { createKeeper } from "../../bench/keeper";
import { CSI_NODE_PACE } from "../../src/node-readiness/csi-node-keeper";
import { startRegistrar } from "../../src/registrar/start-registrar";
import { startReadiness } from "../node-readiness/support/fixture";
import { startScriptedApiServer } from "../node-readiness/support/scripted-api-server";
import { eventually } from "../support/eventually";
import { recordLog } from "../support/recorded-log";
import { startCsiDriver } from "./support/csi-driver";
import type { Kubelet } from "./support/kubelet";
import { startNode } from "./support/node-folder";
import { kubeletVersions, minorOf } from "./support/versions";

const NAME = "disk.csi.example.com";
const QUICK = { ...CSI_NODE_PACE, lookEveryMs: 1_000, graceMs: 500 };

/** `nodeOwnsCSINode` in nodeinfomanager.go came with 1.35; 1.38 asks for the Node's UID anew. */
const keepsUid = (version: string) => minorOf(version) >= 35 && minorOf(version) <= 37;

/** A registered driver whose registrar sees, in an API server, the objects that kubelet has. */
async function startScene(version: string) {
  const { keep, ...keeper } = createKeeper();
  const node = keep(await startNode(version));
  const paths = await node.addDriver(NAME);
  keep(await startCsiDriver({ name: NAME, endpoint: paths.kubeletRegistrationPath }));
  const server = keep(await startScriptedApiServer());
  const show = (kubelet: Kubelet) =>
    kubelet.events.follow(() => {
      const { node: shown, csiNode } = kubelet.objects();
      server.csiNode = csiNode && { ...csiNode, kind: "CSINode" }; // As the API server writes it.
      if (shown === null || shown.metadata.uid === server.node?.metadata.uid) return;
      server.deleteNode();
      server.createNode(shown.metadata.uid);
    });
  show(node.kubelet);
  const log = recordLog();
  const registrar = keep(
    await startRegistrar({
      csiAddress: paths.csiAddress,
      endpoint: paths.kubeletRegistrationPath,
      pluginRegistrationPath: node.pluginDir,
      logger: log.logger,
    }),
  );
  const given = { registrations: registrar, access: server.access, logger: log.logger };
  const { readiness } = keep(
    startReadiness({ ...given, condition: "a/b", conditionDelayMs: 0, pace: { csiNode: QUICK } }),
  );
  return {
    ...{ node, log, show },
    csiNode: () => readiness.status().csiNode[0],
    condition: (text: string) =>
      eventually(() => {
        const [said] = server.node?.status.conditions ?? [];
        expect(`${said?.status} ${said?.reason}`).toBe(text);
      }),
    ...keeper,
  };
}

describe.each(kubeletVersions().filter((version) => minorOf(version) >= 28))("kubelet %s", (version) => {
  test("when the Node is deleted and made again the driver is registered again, or the log names kubelet's restart", async () => {
    await using scene = await startScene(version);
    const { node, log } = scene;
    await scene.condition("True Registered");
    await node.kubelet.command({ command: "replaceNode" });
    await scene.condition("False CSINodeOfDeletedNode");
    await node.kubelet.command({ command: "collect" });
    await eventually(() => expect(scene.csiNode()?.reregistrations).toBe(1));
    const ownerOf = ({ csiNode }: ReturnType<Kubelet["objects"]>) =>
      csiNode?.metadata.ownerReferences?.[0]?.uid;
    await eventually(() => expect(ownerOf(node.kubelet.objects())).toBeDefined());
    const { node: there } = node.kubelet.objects();
    if (!keepsUid(version)) {
      expect(ownerOf(node.kubelet.objects())).toBe(there.metadata.uid);
      return await scene.condition("True Registered");
    }
    expect(ownerOf(node.kubelet.objects())).not.toBe(there.metadata.uid);
    await log.when("CSINode belongs to a deleted Node of the same name, volumes cannot be attached");
    await node.kubelet.command({ command: "collect" });
    await eventually(() =>
      expect(log.records.map(({ fields }) => String(fields.check))).toContainEqual(
        expect.stringMatching(/^restart kubelet/),
      ),
    );
    expect(scene.csiNode()).toMatchObject({ reregistrations: 1, deletedOwner: expect.any(String) });
    await using restarted = await node.kubelet.restart();
    scene.show(restarted);
    await restarted.registered(NAME);
    expect(ownerOf(restarted.objects())).toBe(there.metadata.uid);
    await scene.condition("True Registered");
    expect(scene.csiNode()).toMatchObject({ reregistrations: 1, deletedOwner: undefined });
  });
});
