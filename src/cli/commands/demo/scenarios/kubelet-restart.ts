import { kubeletHasTold, kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

export const kubeletRestart: Scenario = {
  name: "kubelet-restart",
  title: "Kubelet restarts",
  about: [
    "A kubelet that has just started knows no driver. It scans its plugin registration directory and asks every registrar",
    "that it finds there, so the registrar must answer again, at any time.",
  ],

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
      registrarLogs("Received GetInfo call"),
      () => "It asks the registrar (GetInfo), which answers as if for the first time.",
    );
    await step(
      "kubelet to register the driver",
      kubeletTells("registered"),
      ({ driverName }) => `${driverName} is registered again.`,
    );
    await expect("kubelet to end the registration", kubeletHasTold);
  },
};
