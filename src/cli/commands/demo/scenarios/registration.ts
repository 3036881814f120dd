import type { NodeInfo, PluginInfo } from "../../../../grpc/protos";
import { driverTells, kubeletGot, kubeletHasTold, kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

export const registration: Scenario = {
  name: "registration",
  title: "A driver is registered, from its start to the CSINode object",
  about: [
    "Before kubelet can mount a CSI driver's volumes, it must know that the driver exists and where it listens. The",
    "registrar runs beside the driver and tells kubelet. There are two sockets: the driver's and the registrar's.",
  ],

  async play({ deed, start, expect, step, show, short }) {
    await deed("The demo starts a kubelet, a CSI driver and a registrar.", () => {
      start("kubelet");
      start("driver");
      start("registrar");
    });
    await step(
      "the driver to listen",
      driverTells("listening"),
      ({ csiAddress }) => `The CSI driver listens on its socket, ${short(csiAddress)}.`,
    );
    await step(
      "the registrar to ask for the driver's name",
      registrarLogs("CSI driver name"),
      ({ csiDriverName }) => `The registrar asks the driver for its name (GetPluginInfo): ${csiDriverName}.`,
    );
    await step(
      "the registration socket",
      registrarLogs("Registration Server started"),
      ({ socketPath }) => `The registrar puts its own socket where kubelet looks: ${short(`${socketPath}`)}.`,
    );

    await expect("kubelet's plugin watcher to see the socket", kubeletTells("socket-seen"));
    await step(
      "kubelet to ask the registrar (it looks once a second)",
      kubeletGot<PluginInfo>("GetInfo"),
      ({ type, name, endpoint }) =>
        `Kubelet sees the socket and asks who is there (GetInfo): ${type} ${name} at ${short(endpoint)}.`,
    );
    const { nodeId, maxVolumesPerNode } = await expect(
      "kubelet to ask the driver",
      kubeletGot<NodeInfo>("NodeGetInfo"),
    );
    const { csiNode } = await step(
      "kubelet to write CSINode",
      kubeletTells("csi-node-changed"),
      ({ csiNode }) =>
        `Kubelet asks the driver itself (NodeGetInfo): node ID ${nodeId}, ${maxVolumesPerNode} volumes at most; ` +
        `it writes CSINode ${csiNode.metadata.name}.`,
    );
    await step(
      "kubelet to notify the registrar",
      registrarLogs("Received NotifyRegistrationStatus call", { status: "plugin_registered:true" }),
      () => "Kubelet tells the registrar (NotifyRegistrationStatus): registered.",
    );
    await expect("kubelet to end the registration", kubeletHasTold);
    await show(csiNode);
  },
};
