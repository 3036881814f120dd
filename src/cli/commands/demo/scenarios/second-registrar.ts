import { kubeletHasTold, registrarLogs } from "../happenings";
import type { Scenario } from "../scenario";

export const secondRegistrar: Scenario = {
  name: "second-registrar",
  title: "A second registrar comes and goes",
  about: [
    "In a rolling update two pods of one driver can overlap. Both registrars want the same socket path. The newer",
    "one gets it. The older one leaves it alone, even when it stops, and takes over when the newer one is gone.",
  ],

  async play({ deed, start, stop, expect, step }) {
    await deed("The demo starts a second registrar with the same flags.", () => start("second registrar"));
    await step(
      "the second registrar's socket",
      registrarLogs("Registration Server started", { role: "second registrar" }),
      () =>
        "The second registrar asks for the driver's name and replaces the first registrar's socket with its own.",
    );
    await step(
      "the first registrar to stand by",
      registrarLogs("Registration state changed", { to: "standby" }),
      () => "The first registrar sees that another registrar has taken its place, and stands by.",
    );
    await step(
      "kubelet to register the driver through the second registrar",
      registrarLogs("Received NotifyRegistrationStatus call", {
        role: "second registrar",
        status: "plugin_registered:true",
      }),
      () => "Kubelet registers the driver again, now through the second registrar.",
    );
    await expect("kubelet to end that registration", kubeletHasTold);

    await deed("The demo stops the second registrar, which removes its socket.", () =>
      stop("second registrar"),
    );
    await step(
      "the first registrar to notice",
      registrarLogs("Registration state changed", { from: "standby" }),
      () => "The first registrar sees that the second is gone.",
    );
    await step(
      "the first registrar's socket",
      registrarLogs("Registration Server started"),
      () => "It puts its own socket back.",
    );
    await step(
      "kubelet to register the driver through the first registrar",
      registrarLogs("Received NotifyRegistrationStatus call", { status: "plugin_registered:true" }),
      () => "Kubelet registers the driver through the first registrar. Nobody had to restart anything.",
    );
    await expect("kubelet to end that registration", kubeletHasTold);
  },
};
