import type { NodeInfo, PluginInfo } from "../../../grpc/protos";
import { durationText } from "../event-lines";
import {
  driverAnswered,
  driverTells,
  kubeletGot,
  kubeletHasTold,
  kubeletTells,
  registrarMoves,
} from "./happenings";
import type { Play } from "./play";
import { DRIVER_NAME } from "./stage";

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** What a newcomer must know to follow it, in a few short lines. */
  readonly about: string;
  /** Plays it. The first scenario starts with no process, the others with a registered driver; each ends with one. */
  play(play: Play): Promise<void>;
}

/** Longer than a round of kubelet's loop, so kubelet has had the time to deregister the driver. */
const KUBELET_ROUND_MS = 1_100;

export const registration: Scenario = {
  name: "registration",
  title: "A driver is registered, from its start to the CSINode object",
  about:
    "Before kubelet can mount a CSI driver's volumes, it must know that the driver exists and where it listens. The " +
    "registrar runs beside the driver and tells kubelet. There are two sockets: the driver's and the registrar's.",

  async play({ deed, start, expect, step, show, short }) {
    await deed("The demo starts a kubelet, a CSI driver and a registrar.", () =>
      start("kubelet", "driver", "registrar"),
    );
    await step(
      "the driver to listen",
      driverTells("listening"),
      ({ csiAddress }) => `The CSI driver listens on its socket, ${short(csiAddress)}.`,
    );
    await step(
      "the registrar to ask for the driver's name",
      driverAnswered("GetPluginInfo"),
      `The registrar asks the driver for its name (GetPluginInfo): ${DRIVER_NAME}.`,
    );
    await step(
      "the registration socket",
      kubeletTells("socket-seen"),
      ({ socketPath }) => `The registrar puts its own socket where kubelet looks: ${short(socketPath)}.`,
    );

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
      kubeletHasTold,
      "Kubelet tells the registrar (NotifyRegistrationStatus): registered.",
    );
    await show(csiNode);
  },
};

const socketDeleted: Scenario = {
  name: "socket-deleted",
  title: "The registration socket is deleted",
  about:
    "When a registration socket is gone, kubelet takes the driver for gone. Cleanup scripts delete sockets, and so do " +
    "other registrars when they stop. This registrar watches its socket and puts it back.",

  async play({ deed, deleteRegistrationSocket, step, expect }) {
    await deed("The demo deletes the registration socket.", deleteRegistrationSocket);
    await step(
      "the registrar to notice",
      registrarMoves({ reason: "socket-gone" }),
      "The registrar notices that its socket is gone.",
    );
    await step(
      "the registration socket to come back",
      registrarMoves({ to: "listening" }),
      (_, sinceDeedMs) => `The socket is back, ${Math.round(sinceDeedMs)} ms after it was deleted.`,
    );
    await step(
      "kubelet to deregister the driver",
      kubeletTells("deregistered"),
      "To kubelet a new socket is a new plugin: it deregisters the driver and takes it out of CSINode.",
    );
    await step(
      "kubelet to register the driver again",
      kubeletTells("registered"),
      ({ driverName }, sinceDeedMs) =>
        `Kubelet registers ${driverName} again, ${durationText(sinceDeedMs)} after the socket was deleted.`,
    );
    await expect("kubelet to end the registration", kubeletHasTold);
  },
};

const driverRestart: Scenario = {
  name: "driver-restart",
  title: "The driver crashes and comes back",
  about:
    "Kubelet dials the driver again for each call, so a driver that is back on the same socket needs no new " +
    "registration. The registrar sees the driver go and come back, and leaves its own socket in place.",

  async play({ deed, kill, start, step, calm }) {
    await deed("The demo kills the driver. Its socket file stays behind, and no process listens on it.", () =>
      kill("driver"),
    );
    await calm(
      KUBELET_ROUND_MS,
      kubeletTells("deregistered"),
      "Kubelet has deregistered nothing: the registration socket is there.",
    );

    await deed("The demo starts the driver again.", () => start("driver"));
    await step("the driver to listen", driverTells("listening"), "The CSI driver listens again.");
    await step(
      "the registrar to ask for the driver's name",
      driverAnswered("GetPluginInfo"),
      "The registrar has asked for its name again: it is the same.",
    );
    await calm(
      KUBELET_ROUND_MS,
      kubeletTells("deregistered"),
      "The driver is still registered, and was all along.",
    );
  },
};

const secondRegistrar: Scenario = {
  name: "second-registrar",
  title: "A second registrar comes and goes",
  about:
    "In a rolling update two pods of one driver can overlap. Both registrars want the same socket path. The newer " +
    "one gets it. The older one leaves it alone, even when it stops, and takes over when the newer one is gone.",

  async play({ deed, start, stop, expect, step }) {
    const role = "second registrar";
    await deed("The demo starts a second registrar with the same flags.", () => start(role));
    await step(
      "the second registrar's socket",
      registrarMoves({ role, to: "listening" }),
      "The second registrar asks for the driver's name and replaces the first registrar's socket with its own.",
    );
    await step(
      "the first registrar to stand by",
      registrarMoves({ to: "standby" }),
      "The first registrar sees that another registrar has taken its place, and stands by.",
    );
    await step(
      "kubelet to register the driver through the second registrar",
      registrarMoves({ role, to: "registered" }),
      "Kubelet registers the driver again, now through the second registrar.",
    );
    await expect("kubelet to end that registration", kubeletHasTold);

    await deed("The demo stops the second registrar, which removes its socket.", () => stop(role));
    await step(
      "the first registrar to notice",
      registrarMoves({ from: "standby" }),
      "The first registrar sees that the second is gone.",
    );
    await step(
      "the first registrar's socket",
      registrarMoves({ to: "listening" }),
      "It puts its own socket back.",
    );
    await step(
      "kubelet to register the driver through the first registrar",
      registrarMoves({ to: "registered" }),
      "Kubelet registers the driver through the first registrar. No process had to be restarted.",
    );
    await expect("kubelet to end that registration", kubeletHasTold);
  },
};

const kubeletRestart: Scenario = {
  name: "kubelet-restart",
  title: "Kubelet restarts",
  about:
    "A kubelet that has just started knows no driver. It scans its plugin registration directory and asks every registrar " +
    "that it finds there, so the registrar must answer again, at any time.",

  async play({ deed, kill, start, step, expect, short }) {
    await deed("The demo kills kubelet.", () => kill("kubelet"));
    await deed("The demo starts a new kubelet.", () => start("kubelet"));
    await step(
      "kubelet to find the socket",
      kubeletTells("socket-seen"),
      ({ socketPath }) => `The new kubelet finds the registration socket, ${short(socketPath)}.`,
    );
    await step(
      "kubelet to ask the registrar",
      kubeletGot("GetInfo"),
      "It asks the registrar (GetInfo), which answers as if for the first time.",
    );
    await step(
      "kubelet to register the driver",
      kubeletTells("registered"),
      ({ driverName }) => `${driverName} is registered again.`,
    );
    await expect("kubelet to end the registration", kubeletHasTold);
  },
};

export const SCENARIOS: readonly Scenario[] = [
  registration,
  socketDeleted,
  driverRestart,
  secondRegistrar,
  kubeletRestart,
];
