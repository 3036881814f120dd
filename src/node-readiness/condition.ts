import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";
import type { Listing } from "./csi-node";
import { templateProblem } from "./driver-template";
import type { NodeCondition, NodeView } from "./node-api";
import type { ObservedRegistration } from "./observed-registrations";

export interface ConditionSubject {
  readonly type: string;
  /** Undefined until the driver answers. */
  readonly driverName: string | undefined;
  readonly registration: Pick<ObservedRegistration, "state" | "kubeletError">;
}

type WantedCondition = Required<Pick<NodeCondition, "type" | "status" | "reason" | "message">>;

const KUBELETS = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

/** Checks a condition's type, in which `{driver}` stands for the driver's name. Throws INVALID_OPTION. */
export function parseConditionType(text: string): string {
  const problem = KUBELETS.includes(text)
    ? "this is kubelet's own condition"
    : templateProblem("the type", text, "example.com/CSIDriverRegistered");
  if (problem !== undefined) throw invalidOption(`node condition ${quoteText(text)}: ${problem}`);
  return text;
}

export const ORPHANED =
  "CSINode belongs to a deleted Node of the same name: restart kubelet on this node if it does not change soon";

/** A Node has room for about 1,000. The API server sends each to all clients that watch Nodes. */
export const MAX_CONDITIONS = 64;
/** The longest text of kubelet's in a condition, in characters. */
const MAX_REFUSAL = 500;

/** Undefined if another registrar decides: one that holds the registration, or the next one. */
export function conditionFor(
  { type, driverName, registration: { state, kubeletError } }: ConditionSubject,
  listing: Listing,
): WantedCondition | undefined {
  const driver = driverName === undefined ? "the CSI driver" : `CSI driver ${driverName}`;
  const no = (reason: string, message: string) => ({ type, status: "False" as const, reason, message });
  switch (state) {
    case "registered":
      if (listing === "absent")
        return no("NotInCSINode", `kubelet has registered ${driver}, but CSINode does not list it`);
      if (listing === "orphaned")
        return no("CSINodeOfDeletedNode", `kubelet has registered ${driver}, but ${ORPHANED}`);
      return { type, status: "True", reason: "Registered", message: `kubelet has registered ${driver}` };
    case "waiting":
      return no("DriverNotAnswering", `${driver} has not answered the registrar`);
    case "refused":
    case "publishing":
    case "listening":
    case "asked":
      // Also during the next try: kubelet has said nothing else.
      if (kubeletError !== undefined)
        return no("Refused", `kubelet refused ${driver}: ${kubeletError.slice(0, MAX_REFUSAL)}`);
      return no("NotRegistered", `kubelet has not registered ${driver}`);
    case "gone":
      return no("DriverGone", `${driver} is gone from this node`);
    case "standby":
    case "stopping":
    case "stopped":
      return undefined;
    default:
      return state satisfies never;
  }
}

/** The patch of the Node's status; undefined if only the message would change. Conditions merge by type (core/v1, NodeStatus). */
export function planCondition(node: NodeView, wanted: WantedCondition, now: Date): object | undefined {
  const current = node.conditions.find(({ type }) => type === wanted.type);
  if (current?.status === wanted.status && current.reason === wanted.reason) return undefined;
  const time = now.toISOString().replace(/\.\d+/, "");
  const since = current?.status === wanted.status ? current.lastTransitionTime : undefined;
  const condition: NodeCondition = { ...wanted, lastHeartbeatTime: time, lastTransitionTime: since ?? time };
  return { status: { conditions: [condition] } };
}
