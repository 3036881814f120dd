import { RegistrarError } from "../base/errors";
import type { NodeCondition, NodeView } from "./api/node";
import { isTemplate, patternOf } from "./driver-template";
import type { ObservedRegistration } from "./observed-registrations";

/** The content of a Node's condition, without its times. */
export interface WantedCondition {
  readonly type: string;
  readonly status: "True" | "False";
  /** One word for programs. */
  readonly reason: string;
  readonly message: string;
}

/** A condition's type: `{driver}` in it stands for the driver's name. Throws INVALID_OPTION where it can be none. */
export function parseConditionType(text: string): string {
  const known = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];
  const refuse = (why: string): never => {
    throw new RegistrarError("INVALID_OPTION", `node condition ${JSON.stringify(text)}: ${why}`);
  };
  if (known.includes(text)) refuse("this one is kubelet's own");
  if (!isTemplate(text))
    refuse(
      "the type must be NAME or DNS-NAME/NAME, as example.com/CSIDriverRegistered is; with {driver} DNS-NAME/NAME",
    );
  return text;
}

const GONE_REASON = "DriverGone";
/** A driver that has been gone for so long does not come back. */
export const GONE_FOR_GOOD_MS = 60 * 60_000;
/** A Node has room for some 1,000; every one is sent to everybody who watches Nodes. */
export const MAX_CONDITIONS = 64;

/** Of kubelet's words, in an object that everybody reads. */
const MAX_WORDS = 500;

/** What is known of a driver when its condition is judged. */
export interface DriverStanding {
  readonly registration: Pick<ObservedRegistration, "state" | "refusal">;
  /** Undefined before the driver told it. */
  readonly driverName: string | undefined;
  /** Whether CSINode lists it; looked up only where kubelet says that it is registered. */
  readonly listed: boolean;
}

/**
 * What the condition is to say of a driver. Undefined where another registrar has the say: the one that this one stands
 * by for, or the one that comes after it.
 */
export function conditionFor(
  type: string,
  { registration: { state, refusal }, driverName, listed }: DriverStanding,
): WantedCondition | undefined {
  const driver = driverName === undefined ? "the CSI driver" : `CSI driver ${driverName}`;
  const no = (reason: string, message: string) => ({ type, status: "False" as const, reason, message });
  switch (state) {
    case "registered":
      if (!listed) return no("NotInCSINode", `kubelet says that it registered ${driver}, CSINode lacks it`);
      return { type, status: "True", reason: "Registered", message: `kubelet has registered ${driver}` };
    case "refused":
      return no("Refused", `kubelet refused ${driver}: ${(refusal ?? "").slice(0, MAX_WORDS)}`);
    case "waiting":
      return no("DriverNotAnswering", `${driver} has not answered the registrar`);
    case "publishing":
    case "listening":
    case "asked":
      return no("NotRegistered", `kubelet has not registered ${driver}`);
    case "gone":
      return no(GONE_REASON, `${driver} is gone from this node`);
    case "standby":
    case "stopping":
    case "stopped":
      return undefined;
    default:
      return state satisfies never;
  }
}

/**
 * The strategic merge patch of the Node's status that makes the condition so, undefined where it is so already. Lists of
 * conditions are merged by type (core/v1, NodeStatus), so nobody else's is touched and no precondition is needed.
 * Words that changed alone are not worth a write.
 */
export function planCondition(node: NodeView, wanted: WantedCondition, now: Date): object | undefined {
  const current = node.conditions.find(({ type }) => type === wanted.type);
  if (current?.status === wanted.status && current.reason === wanted.reason) return undefined;
  const time = now.toISOString().replace(/\.\d+/, "");
  const since = current?.status === wanted.status ? current.lastTransitionTime : undefined;
  const condition: NodeCondition = {
    ...wanted,
    lastHeartbeatTime: time,
    lastTransitionTime: since ?? time,
  };
  return { status: { conditions: [condition] } };
}

/** The conditions of drivers that are gone for good, and when the next one will be; `live` are not among them. */
export function findForgettable(
  node: NodeView,
  template: string,
  { live, now }: { readonly live: readonly string[]; readonly now: number },
): { readonly types: readonly string[]; readonly nextInMs: number | undefined } {
  const pattern = new RegExp(patternOf(template));
  const gone = node.conditions
    .filter(({ type, reason }) => reason === GONE_REASON && pattern.test(type) && !live.includes(type))
    .map(({ type, lastHeartbeatTime = "" }) => ({ type, at: Date.parse(lastHeartbeatTime) || 0 }))
    .sort((one, other) => one.at - other.at);
  const excess = live.length + gone.length - MAX_CONDITIONS;
  const kept = gone.filter(({ at }, place) => place >= excess && now - at < GONE_FOR_GOOD_MS);
  return {
    types: gone.filter((one) => !kept.includes(one)).map(({ type }) => type),
    nextInMs: kept[0] && kept[0].at + GONE_FOR_GOOD_MS - now,
  };
}

/** The patch of the Node's status that removes conditions. */
export function planForgetting(types: readonly string[]): object {
  return { status: { conditions: types.map((type) => ({ $patch: "delete", type })) } };
}
