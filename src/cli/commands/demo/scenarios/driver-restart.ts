import { driverTells, kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

/** Longer than a round of kubelet's loop: what kubelet meant to do, it has done by then. */
const KUBELET_ROUND_MS = 1_100;

export const driverRestart: Scenario = {
  name: "driver-restart",
  title: "The driver crashes and comes back",
  about: [
    "Kubelet dials the driver anew for each call, so a driver that is back on the same socket needs no new",
    "registration. The registrar keeps a connection to the driver, sees both, and leaves its own socket in place.",
  ],

  async play({ deed, kill, start, step, calm }) {
    await deed("The driver is killed; its socket stays behind, with nobody listening.", () => kill("driver"));
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

    await deed("The driver is started again.", () => start("driver"));
    await step("the driver to listen", driverTells("listening"), () => "The CSI driver listens again.");
    await step(
      "the registrar to ask the driver's name",
      registrarLogs("Connection restored"),
      ({ after }) => `The registrar has asked its name again: the same. It was away for ${after}.`,
    );
    await calm(
      KUBELET_ROUND_MS,
      kubeletTells("deregistered"),
      "The driver is still registered, and was all the time.",
    );
  },
};
