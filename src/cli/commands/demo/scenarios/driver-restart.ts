import { driverTells, kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

/** Longer than a round of kubelet's loop, so kubelet has had the time to deregister the driver. */
const KUBELET_ROUND_MS = 1_100;

export const driverRestart: Scenario = {
  name: "driver-restart",
  title: "The driver crashes and comes back",
  about: [
    "Kubelet dials the driver again for each call, so a driver that is back on the same socket needs no new",
    "registration. The registrar sees the driver go and come back, and leaves its own socket in place.",
  ],

  async play({ deed, kill, start, step, calm }) {
    await deed("The demo kills the driver. Its socket file stays behind, and nobody listens on it.", () =>
      kill("driver"),
    );
    await step(
      "the registrar to notice",
      registrarLogs("Lost connection"),
      () => "The registrar notices that the driver is gone, and waits for it.",
    );
    await calm(
      KUBELET_ROUND_MS,
      kubeletTells("deregistered"),
      "Kubelet has deregistered nothing: the registration socket is there.",
    );

    await deed("The demo starts the driver again.", () => start("driver"));
    await step("the driver to listen", driverTells("listening"), () => "The CSI driver listens again.");
    await step(
      "the registrar to ask for the driver's name",
      registrarLogs("Connection restored"),
      ({ after }) =>
        `The registrar has asked for its name again: it is the same. The driver was away for ${after}.`,
    );
    await calm(
      KUBELET_ROUND_MS,
      kubeletTells("deregistered"),
      "The driver is still registered, and was all along.",
    );
  },
};
