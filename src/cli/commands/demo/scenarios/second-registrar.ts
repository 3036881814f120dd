import { kubeletTells, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

export const secondRegistrar: Scenario = {
  name: "second-registrar",
  title: "A second registrar arrives, and goes",
  about: [
    "In a rolling update two pods of one driver overlap. Both registrars want the same socket path. The newest",
    "has it; the old one leaves it alone, even when it ends, and takes over when the newest is gone.",
  ],

  async play({ deed, start, stop, expect, step }) {
    await deed("A second registrar is started, with the same flags.", () => start("second registrar"));
    await step(
      "the second registrar's socket",
      registrarLogs("Registration Server started", { role: "second registrar" }),
      () => "The second registrar asks the driver's name, and puts its socket in place of the first one's.",
    );
    await step(
      "the first registrar to stand by",
      registrarLogs("Registration state changed", { to: "standby" }),
      () => "The first registrar sees a living registrar in its place: it stands by.",
    );
    await step(
      "kubelet to register the driver by the second registrar",
      registrarLogs("Received NotifyRegistrationStatus call", {
        role: "second registrar",
        status: "plugin_registered:true",
      }),
      () => "Kubelet registers the driver again, now by the second registrar.",
    );
    await expect("kubelet to end that registration", kubeletTells("registered"));

    await deed("The second registrar is stopped; it removes its socket.", () => stop("second registrar"));
    await step(
      "the first registrar to notice",
      registrarLogs("Registration state changed", { from: "standby" }),
      () => "The first registrar sees that the second is gone.",
    );
    await step(
      "the first registrar's socket",
      registrarLogs("Registration Server started"),
      () => "It puts its own socket in place again.",
    );
    await step(
      "kubelet to register the driver by the first registrar",
      registrarLogs("Received NotifyRegistrationStatus call", { status: "plugin_registered:true" }),
      () => "Kubelet registers the driver by the first registrar: nobody had to restart anything.",
    );
    await expect("kubelet to end that registration", kubeletTells("registered"));
  },
};
