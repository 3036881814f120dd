import { durationText } from "../../../event-lines";
import { kubeletHasTold, kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

export const socketDeleted: Scenario = {
  name: "socket-deleted",
  title: "Somebody deletes the registration socket",
  about: [
    "When a registration socket is gone, kubelet takes the driver for gone. Cleanup scripts delete sockets, and so do",
    "other registrars when they stop. This registrar watches its socket and puts it back.",
  ],

  async play({ deed, deleteRegistrationSocket, step, expect }) {
    await deed("The demo deletes the registration socket.", deleteRegistrationSocket);
    await step(
      "the registrar to notice",
      registrarLogs("Registration state changed", { reason: "socket-gone" }),
      () => "The registrar notices that its socket is gone.",
    );
    await step(
      "the registration socket to come back",
      registrarLogs("Registration Server started"),
      (_, sinceDeedMs) => `The socket is back, ${Math.round(sinceDeedMs)} ms after it was deleted.`,
    );
    await step(
      "kubelet to deregister the driver",
      kubeletTells("deregistered"),
      () => "To kubelet a new socket is a new plugin: it deregisters the driver and takes it out of CSINode.",
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
