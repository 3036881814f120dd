import { type KubeletEvent, type SimulatedVersion, startKubelet } from "../../../src/testing";
import { PATIENCE_MS } from "../../support/history";
import { kubeletStep, type Step } from "./step";
import type { TestedKubelet } from "./tested-kubelet";

export function simulatedKubelet(version: SimulatedVersion): TestedKubelet {
  return {
    name: `simulated kubelet ${version}`,
    start: async ({ pluginDir, hangs, volumeLimitPeriodsMs, onStep, onObjects }) => {
      // Kubelet's own times where the script is about them; elsewhere a machine with other work is no slow registrar.
      const timings = {
        ...(hangs !== "GetInfo" && { getInfoMs: PATIENCE_MS }),
        ...(hangs !== "NotifyRegistrationStatus" && { notifyMs: PATIENCE_MS }),
      };
      const kubelet = await startKubelet({
        version,
        pluginRegistrationPath: pluginDir,
        nodeName: "node-1",
        nodeLabels: {},
        volumeLimitPeriodsMs,
        timings,
      });
      const take = (event: KubeletEvent) => {
        const step = stepOfEvent(event);
        if (step) onStep(step);
        onObjects({ node: kubelet.node(), csiNode: kubelet.csiNode() });
      };
      kubelet.events.history().forEach(take);
      kubelet.events.subscribe(take);
      return {
        refuse: async ({ stage, text: reason }) => {
          const simulatedStage = stage === "validate" ? "validation" : "registration";
          kubelet.setFaults([{ kind: "refuse", stage: simulatedStage, reason, times: 1 }]);
        },
        restart: (whileDown) => kubelet.restart({ whileDown }),
        kill: kubelet.close,
      };
    },
  };
}

/** What an event tells of a registration socket, if anything. */
export function stepOfEvent(event: KubeletEvent): Step | undefined {
  switch (event.kind) {
    case "socket-seen":
      return kubeletStep.sees(event.socketPath);
    case "socket-gone":
      return kubeletStep.misses(event.socketPath);
    case "operation-started":
      return kubeletStep.starts(event.socketPath, event.operation, event.atMs);
    case "failed":
      return kubeletStep.fails(event.socketPath, event.error, event.backoffMs, event.atMs);
    default:
      return undefined;
  }
}
