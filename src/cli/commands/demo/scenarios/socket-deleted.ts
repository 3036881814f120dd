import { durationText } from "../../../event-lines";
import { kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

export const socketDeleted: Scenario = {
  name: "socket-deleted",
  title: "Somebody deletes the registration socket",
  about: [
    "To kubelet, a registration socket that is gone means a driver that is gone. It happens: a clean-up script, a",
    "second pod that ends. The registrar watches its socket, and puts a new one in its place.",
  ],

  async play({ deed, deleteRegistrationSocket, step }) {
    await deed("The registration socket is deleted.", deleteRegistrationSocket);
    await step(
      "the registrar to notice",
      registrarLogs("Registration state changed", { reason: "socket-gone" }),
      () => "The registrar notices that its socket is gone.",
    );
    await step(
      "the registration socket to come back",
      registrarLogs("Registration Server started"),
      (_, sinceDeedMs) => `The socket is back, ${sinceDeedMs} ms after it was deleted.`,
    );
    await step(
      "kubelet to deregister the driver",
      kubeletTells("deregistered"),
      () => "Kubelet takes a new socket for a new plugin: it deregisters the driver, out of CSINode with it.",
    );
    await step(
      "kubelet to register the driver again",
      kubeletTells("registered"),
      ({ driverName }, sinceDeedMs) =>
        `Kubelet asks there, and registers ${driverName} again, ${durationText(sinceDeedMs)} after the socket was deleted.`,
    );
  },
};
