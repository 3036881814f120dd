import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type CsiDriverFault, type SimulatedCsiDriver, startCsiDriver } from "../../src/testing";
import { allRegistered, nameOf, namesOf } from "./support/crowd";
import { type NodeFolder, startNode } from "./support/node-folder";
import { PUBLISHED, startRegistrar } from "./support/registrar";
import { kubeletVersions } from "./support/versions";

const NAMES = namesOf(20);
const sockets = NAMES.map((name) => `${name}-reg.sock`).toSorted();

const pluginsOf = (node: NodeFolder) => join(dirname(node.pluginRegistrationPath), "plugins");

/** A registrar of every driver; `--driver-gone-after` must not matter where a folder goes. */
const startNodeWide = (node: NodeFolder) =>
  startRegistrar([
    `--csi-address=${join(pluginsOf(node), "*", "csi.sock")}`,
    `--kubelet-registration-path=${join(pluginsOf(node), "*", "csi.sock")}`,
    `--plugin-registration-path=${node.pluginRegistrationPath}`,
    "--driver-gone-after=1h",
  ]);

/** Drivers in this process; each tells another ID of the node. */
async function startDrivers(node: NodeFolder, names: readonly string[]): Promise<AsyncDisposable> {
  const drivers = await Promise.all(names.map((name) => startDriver(node, name, name)));
  return {
    [Symbol.asyncDispose]: async () => void (await Promise.all(drivers.map((driver) => driver.close()))),
  };
}

async function startDriver(
  node: NodeFolder,
  folder: string,
  name: string,
  faults: readonly CsiDriverFault[] = [],
): Promise<SimulatedCsiDriver> {
  const { kubeletRegistrationPath } = await node.addDriver(folder);
  return startCsiDriver({ csiAddress: kubeletRegistrationPath, name, nodeId: `${folder}-node`, faults });
}

describe.each(kubeletVersions())("kubelet %s", (version) => {
  test("has all drivers of a node, beside an evil and a hanging one, loses one that goes, and restarts over the same sockets", async () => {
    await using node = await startNode(version);
    await using registrar = await startNodeWide(node);
    await using _evil = await startDriver(node, "evil", "../evil");
    await using _hangs = await startDriver(node, "hangs", "hangs.csi", [
      { kind: "hang", method: "GetPluginInfo" },
    ]);
    await using _drivers = await startDrivers(node, NAMES);
    await allRegistered(node.kubelet, NAMES); // Told after the objects are written.
    await Promise.all(NAMES.map(node.kubelet.registered));

    const { csiNode } = node.kubelet.objects();
    const listed = csiNode?.spec.drivers.map(({ name, nodeID }) => [name, nodeID]);
    expect(listed?.toSorted()).toEqual(NAMES.map((name) => [name, `${name}-node`]).toSorted());
    const endpoints = node.kubelet.events
      .all()
      .flatMap((event) => (event.event === "register" ? [[event.plugin, event.endpoint]] : []));
    expect(Object.fromEntries(endpoints)).toEqual(
      Object.fromEntries(NAMES.map((name) => [name, join(pluginsOf(node), name, "csi.sock")])),
    );
    expect((await node.visibleSockets()).toSorted()).toEqual(sockets);
    await registrar.says('"Cannot register the CSI driver"');

    const gone = nameOf(7);
    await rm(join(pluginsOf(node), gone), { recursive: true });
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
    expect(registrar.count(PUBLISHED)).toBe(NAMES.length);
    expect(kubelet.objects().csiNode?.spec.drivers).toHaveLength(left.length);

    registrar.signal("SIGTERM");
    await Promise.all(left.map(kubelet.deregistered));
    expect(await node.visibleSockets()).toEqual([]);
  });
});
