import { rm } from "node:fs/promises";
import { createKeeper } from "../../bench/keeper";
import { type CsiDriverFault, startCsiDriver } from "../../src/testing";
import { registrarArguments } from "../end-to-end/support/node";
import { startCli } from "../end-to-end/support/process";
import { allRegistered, nameOf, namesOf } from "./support/crowd";
import { PUBLISHED } from "./support/driver-pod";
import { type NodeFolder, startNode } from "./support/node-folder";
import { kubeletVersions } from "./support/versions";

const NAMES = namesOf(20);
const sockets = NAMES.map((name) => `${name}-reg.sock`).toSorted();

/** A driver in this process; each tells another ID of the node. */
async function startDriver(
  node: NodeFolder,
  folder: string,
  name = folder,
  faults: readonly CsiDriverFault[] = [],
) {
  const { kubeletRegistrationPath } = await node.addDriver(folder);
  return startCsiDriver({
    csiAddress: kubeletRegistrationPath,
    name,
    nodeId: `${folder}-node`,
    faults,
  });
}

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test("kubelet keeps all healthy drivers of a node beside hostile ones, through a departure and a restart", async () => {
    await using node = await startNode(version);
    await using scene = createKeeper();
    // The flag must not matter where a folder goes.
    const args = [...registrarArguments(node, node.at("plugins", "*", "csi.sock")), "--driver-gone-after=1h"];
    const registrar = scene.keep(startCli(args));
    scene.keep(await startDriver(node, "evil", "../evil"));
    scene.keep(await startDriver(node, "hangs", "hangs.csi", [{ kind: "hang", method: "GetPluginInfo" }]));
    await Promise.all(NAMES.map(async (name) => scene.keep(await startDriver(node, name))));
    await allRegistered(node.kubelet, NAMES); // Told after the objects are written.
    await Promise.all(NAMES.map(node.kubelet.registered));

    const { csiNode } = node.kubelet.objects();
    const listed = csiNode?.spec.drivers.map(({ name, nodeID }) => [name, nodeID]);
    expect(listed?.toSorted()).toEqual(NAMES.map((name) => [name, `${name}-node`]).toSorted());
    const endpoints = node.kubelet.events
      .all()
      .flatMap((event) => (event.event === "register" ? [[event.plugin, event.endpoint]] : []));
    expect(Object.fromEntries(endpoints)).toEqual(
      Object.fromEntries(NAMES.map((name) => [name, node.at("plugins", name, "csi.sock")])),
    );
    expect(node.visibleFiles()).toEqual(sockets);
    await registrar.line("Cannot register the CSI driver");

    const gone = nameOf(7);
    await rm(node.at("plugins", gone), { recursive: true });
    await node.kubelet.events.waitFor((event) => event.event === "deregister" && event.plugin === gone);
    await node.kubelet.deregistered(gone);
    const deregistered = node.kubelet.events
      .all()
      .flatMap((event) => (event.event === "deregister" ? [event.plugin] : []));
    expect(deregistered).toEqual([gone]);
    const left = NAMES.filter((name) => name !== gone);

    await using kubelet = await node.kubelet.restart();
    await allRegistered(kubelet, left);
    await Promise.all(left.map(kubelet.registered));
    expect(registrar.lines(PUBLISHED)).toHaveLength(NAMES.length);
    expect(kubelet.objects().csiNode?.spec.drivers).toHaveLength(left.length);

    registrar.kill("SIGTERM");
    await Promise.all(left.map(kubelet.deregistered));
    expect(node.visibleFiles()).toEqual([]);
  });
});
