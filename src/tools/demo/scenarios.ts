import type { Sign } from "./happenings";
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

const asked: Sign = { role: "driver", kind: "answered", method: "GetPluginInfo" };
const notified: Sign = { role: "kubelet", kind: "called", call: "NotifyRegistrationStatus" };
const deregistered: Sign = { role: "kubelet", kind: "deregistered" };

const begin = ({ deed, start }: Play) =>
  deed("The demo starts a kubelet, a CSI driver and a registrar.", () =>
    start("kubelet", "driver", "registrar"),
  );

/** For a scenario that needs a registered driver and is played first. */
export async function beginRegistered(play: Play): Promise<void> {
  await begin(play);
  await play.step(notified, "The driver is registered.");
}

export const registration: Scenario = {
  name: "registration",
  title: "A driver is registered, from its start to the CSINode object",
  about:
    "Before kubelet can mount a CSI driver's volumes, it must know that the driver exists and where it listens. The " +
    "registrar runs beside the driver and tells kubelet. There are two sockets: the driver's and the registrar's.",

  async play(play) {
    const { step, show } = play;
    await begin(play);
    await step(
      { role: "driver", kind: "listening" },
      `The CSI driver listens on its socket, plugins/${DRIVER_NAME}/csi.sock.`,
    );
    await step(asked, `The registrar asks the driver for its name (GetPluginInfo): ${DRIVER_NAME}.`);
    await step(
      { role: "kubelet", kind: "socket-seen" },
      `The registrar puts its own socket where kubelet looks: plugins_registry/${DRIVER_NAME}-reg.sock.`,
    );
    await step(
      { role: "kubelet", kind: "called", call: "GetInfo" },
      "Kubelet, which looks once a second, asks the registrar (GetInfo) for the driver's name and socket.",
    );
    const written = await step(
      { role: "kubelet", kind: "csi-node-changed" },
      "Kubelet asks the driver itself for its node ID (NodeGetInfo), and writes the CSINode object.",
    );
    await step(notified, "Kubelet tells the registrar (NotifyRegistrationStatus): registered.");
    if ("csiNode" in written) await show(written.csiNode);
  },
};

const socketDeleted: Scenario = {
  name: "socket-deleted",
  title: "The registration socket is deleted",
  about:
    "When a registration socket is gone, kubelet takes the driver for gone. Cleanup scripts delete sockets, and so do " +
    "other registrars when they stop. This registrar watches its socket and puts it back.",

  async play({ deed, deleteRegistrationSocket, step }) {
    await deed("The demo deletes the registration socket.", deleteRegistrationSocket);
    await step(
      { role: "registrar", reason: "socket-gone" },
      "The registrar notices that its socket is gone.",
    );
    await step({ role: "registrar", to: "listening" }, "The socket is back.");
    await step(
      deregistered,
      "To kubelet a new socket is a new plugin: it deregisters the driver and takes it out of CSINode.",
    );
    await step(notified, "Kubelet has registered the driver again.");
  },
};

const driverRestart: Scenario = {
  name: "driver-restart",
  title: "The driver crashes and comes back",
  about:
    "Kubelet dials the driver again for each call, so a driver that is back on the same socket needs no new " +
    "registration. The registrar sees the driver go and come back, and leaves its own socket in place.",

  async play({ deed, end, start, step, calm }) {
    await deed("The demo kills the driver. Its socket file stays behind, and no process listens on it.", () =>
      end("driver", "SIGKILL"),
    );
    await calm(
      KUBELET_ROUND_MS,
      deregistered,
      "Kubelet has deregistered nothing: the registration socket is there.",
    );

    await deed("The demo starts the driver again.", () => start("driver"));
    await step({ role: "driver", kind: "listening" }, "The CSI driver listens again.");
    await step(asked, "The registrar has asked for its name again: it is the same.");
    await calm(KUBELET_ROUND_MS, deregistered, "The driver is still registered, and was all along.");
  },
};

const secondRegistrar: Scenario = {
  name: "second-registrar",
  title: "A second registrar comes and goes",
  about:
    "In a rolling update two pods of one driver can overlap. Both registrars want the same socket path. The newer " +
    "one gets it. The older one leaves it alone, even when it stops, and takes over when the newer one is gone.",

  async play({ deed, start, end, step }) {
    const role = "second registrar";
    await deed("The demo starts a second registrar with the same flags.", () => start(role));
    await step(
      { role, to: "listening" },
      "The second registrar asks for the driver's name and replaces the first registrar's socket with its own.",
    );
    await step(
      { role: "registrar", to: "standby" },
      "The first registrar sees that another registrar has taken its place, and stands by.",
    );
    await step(notified, "Kubelet has registered the driver again, now through the second registrar.");

    await deed("The demo stops the second registrar, which removes its socket.", () => end(role, "SIGTERM"));
    await step({ role: "registrar", from: "standby" }, "The first registrar sees that the second is gone.");
    await step({ role: "registrar", to: "listening" }, "It puts its own socket back.");
    await step(
      notified,
      "Kubelet has registered the driver through the first registrar. No process had to be restarted.",
    );
  },
};

const kubeletRestart: Scenario = {
  name: "kubelet-restart",
  title: "Kubelet restarts",
  about:
    "A kubelet that has just started knows no driver. It scans its plugin registration directory and asks every registrar " +
    "that it finds there, so the registrar must answer again, at any time.",

  async play({ deed, end, start, step }) {
    await deed("The demo kills kubelet.", () => end("kubelet", "SIGKILL"));
    await deed("The demo starts a new kubelet.", () => start("kubelet"));
    await step({ role: "kubelet", kind: "socket-seen" }, "The new kubelet finds the registration socket.");
    await step(
      { role: "kubelet", kind: "called", call: "GetInfo" },
      "It asks the registrar (GetInfo), which answers as if for the first time.",
    );
    await step(notified, "The driver is registered again.");
  },
};

export const SCENARIOS: readonly Scenario[] = [
  registration,
  socketDeleted,
  driverRestart,
  secondRegistrar,
  kubeletRestart,
];
