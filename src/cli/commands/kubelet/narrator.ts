import { basename } from "node:path";
import type { EventOf } from "../../../base/event-source";
import type { NodeInfo } from "../../../grpc/protos";
import { NODE_ID_ANNOTATION } from "../../../kubelet-rules/api-validation";
import type { CallResult, DeregistrationCause, KubeletEvent } from "../../../simulator/kubelet/events";
import type { KubeletFault } from "../../../simulator/kubelet/options";
import { durationText, type Narrator } from "../event-lines";

type Lines = {
  readonly [Kind in KubeletEvent["kind"]]: (event: EventOf<KubeletEvent, Kind>) => string | undefined;
};

/** Describes the steps of a simulated kubelet: who called whom, how long it took, why it waits. */
export const narrateKubelet: Narrator<KubeletEvent> = (event) => LINES[event.kind](event as never);

const LINES: Lines = {
  started: (event) =>
    `kubelet ${kubeletText(event)} of node ${event.nodeName} watches ${event.pluginRegistrationPath}`,
  stopped: ({ because }) =>
    because === "restart" ? "kubelet is killed and starts again" : "kubelet has stopped",
  "socket-seen": ({ socketPath, replaced }) =>
    `sees ${replaced ? "a new socket in place of " : ""}${basename(socketPath)}`,
  "socket-gone": ({ socketPath }) => `${basename(socketPath)} is gone`,
  "file-ignored": ({ path, because }) => `ignores ${basename(path)}: ${IGNORED[because]}`,
  "watch-failed": ({ folder, error }) => `cannot watch ${folder}: ${error}`,
  "operation-started": ({ operation, socketPath }) =>
    `starts to ${operation} the plugin on ${basename(socketPath)}`,
  calling: () => undefined,
  called: ({ call, socketPath, result, durationMs }) =>
    `  ${call} → ${basename(socketPath)}: ${resultText(result)} (${durationText(durationMs)})`,
  waiting: ({ socketPath, because }) => `leaves ${basename(socketPath)} alone${waitText(because)}`,
  registered: ({ driverName, endpoint }) => `${driverName} is registered at ${endpoint}`,
  refused: ({ driverName, reason }) => `${driverName} is refused: ${reason}`,
  deregistered: ({ driverName, because }) => `${driverName} is deregistered: ${DEREGISTERED[because]}`,
  failed: (event) => {
    const next = event.retries
      ? `tries again, after ${durationText(event.backoffMs)} at the earliest`
      : "tries again only when the socket changes";
    return `${next}: ${event.error}`;
  },
  "health-service-chosen": ({ driverName, service }) =>
    `watches the health of ${driverName}'s devices by ${service}`,
  "volume-limit-not-updated": ({ error }) => `leaves the volume limit as it is: ${error}`,
  "node-changed": ({ node: { metadata } }) =>
    `writes Node ${metadata.name}: node IDs ${metadata.annotations[NODE_ID_ANNOTATION] ?? "{}"}`,
  "csi-node-changed": ({ csiNode: { metadata, spec } }) => {
    const drivers = spec.drivers.map(({ name }) => name).join(", ") || "none";
    return `writes CSINode ${metadata.name}: drivers ${drivers}`;
  },
  "fault-applied": ({ fault }) => `as configured, it ${faultText(fault)}`,
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
  if ("nodeId" in result.answer) return nodeInfoText(result.answer);
  const { type, name, endpoint, supportedVersions } = result.answer;
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

function waitText(because: EventOf<KubeletEvent, "waiting">["because"]): string {
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
