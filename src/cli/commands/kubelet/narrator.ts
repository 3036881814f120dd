import { basename } from "node:path";
import type { EventOf } from "../../../base/event-source";
import type { NodeInfo, PluginInfo } from "../../../grpc/protos";
import { NODE_ID_ANNOTATION } from "../../../kubelet-rules/node-id-annotation";
import type { CallResult, DeregistrationCause, KubeletEvent } from "../../../simulator/kubelet-events";
import type { KubeletFault } from "../../../simulator/kubelet-faults";
import { durationText, type Narrator } from "../../event-lines";

/** Describes the steps of a simulated kubelet: who called whom, how long it took, why it waits. */
export const narrateKubelet: Narrator<KubeletEvent> = (event) => {
  switch (event.kind) {
    case "started":
      return [
        `kubelet ${kubeletText(event)} of node ${event.nodeName} watches ${event.pluginRegistrationPath}`,
      ];
    case "stopped":
      return [event.because === "restart" ? "kubelet is killed and starts again" : "kubelet has stopped"];
    case "socket-seen":
      return [`sees ${event.replaced ? "a new socket in place of " : ""}${basename(event.socketPath)}`];
    case "socket-gone":
      return [`${basename(event.socketPath)} is gone`];
    case "file-ignored":
      return [`ignores ${basename(event.path)}: ${IGNORED[event.because]}`];
    case "watch-failed":
      return [`cannot watch ${event.folder}: ${event.error}`];
    case "operation-started":
      return [`starts to ${event.operation} the plugin on ${basename(event.socketPath)}`];
    case "calling":
      return [];
    case "called": {
      const { call, socketPath, result, durationMs } = event;
      return [`  ${call} → ${basename(socketPath)}: ${resultText(result)} (${durationText(durationMs)})`];
    }
    case "waiting":
      return [`leaves ${basename(event.socketPath)} alone${waitText(event.because)}`];
    case "registered":
      return [`${event.driverName} is registered at ${event.endpoint}`];
    case "refused":
      return [`${event.driverName} is refused: ${event.reason}`];
    case "deregistered":
      return [`${event.driverName} is deregistered: ${DEREGISTERED[event.because]}`];
    case "failed": {
      const next = event.retries
        ? `tries again, after ${durationText(event.backoffMs)} at the earliest`
        : "tries again only when the socket changes";
      return [`${next}: ${event.error}`];
    }
    case "node-changed": {
      const { name, annotations } = event.node.metadata;
      return [`writes Node ${name}: node IDs ${annotations[NODE_ID_ANNOTATION] ?? "{}"}`];
    }
    case "csi-node-changed": {
      const { metadata, spec } = event.csiNode;
      const drivers = spec.drivers.map(({ name }) => name).join(", ") || "none";
      return [`writes CSINode ${metadata.name}: drivers ${drivers}`];
    }
    case "fault-applied":
      return [`as configured, it ${faultText(event.fault)}`];
  }
};

const IGNORED = { hidden: "its name starts with a dot", "not-a-socket": "it is no socket" } as const;

const DEREGISTERED: Readonly<Record<DeregistrationCause, string>> = {
  "socket-gone": "its socket is gone",
  "socket-replaced": "its socket was replaced, the new one is next",
  "registration-failed": "another attempt to register it failed",
  "notice-failed": "its registrar did not get the status",
};

function resultText(result: CallResult): string {
  if (result.kind === "error") return result.error;
  if (result.answer === undefined) return "ok";
  return "nodeId" in result.answer ? nodeInfoText(result.answer) : pluginInfoText(result.answer);
}

function pluginInfoText({ type, name, endpoint, supportedVersions }: PluginInfo): string {
  return `${type} ${name} at ${endpoint || "this socket"}, versions ${supportedVersions.join(", ") || "none"}`;
}

function nodeInfoText({ nodeId, maxVolumesPerNode, accessibleTopology }: NodeInfo): string {
  const segments = Object.entries(accessibleTopology?.segments ?? {});
  return [
    `node ID ${JSON.stringify(nodeId)}`,
    segments.length > 0
      ? `topology ${segments.map((segment) => segment.join("=")).join(" ")}`
      : "no topology",
    maxVolumesPerNode > 0 ? `at most ${maxVolumesPerNode} volumes` : "no volume limit",
  ].join(", ");
}

function waitText(because: Extract<KubeletEvent, { readonly kind: "waiting" }>["because"]): string {
  if (because.kind === "never-call") return ", as configured";
  return ` for another ${durationText(because.remainingMs)}: it backs off from a path after a failure`;
}

function faultText(fault: KubeletFault): string {
  switch (fault.kind) {
    case "refuse":
      return "refuses the driver";
    case "slow":
      return `waits ${durationText(fault.delayMs)} before ${fault.before}`;
    case "drop-before-notice":
      return "drops the connection before it reports the status";
    case "never-call":
      return "never calls";
  }
}

function kubeletText({ version, simulated }: EventOf<KubeletEvent, "started">): string {
  return version === simulated ? version : `${version}, which behaves as ${simulated},`;
}
