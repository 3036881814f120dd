import { basename } from "node:path";
import { SOCKET_TAIL } from "../../../registrar/socket/socket-name";
import type { CsiDriverEvent } from "../../../simulator/driver/services";
import type { CallResult, KubeletCall, KubeletEvent } from "../../../simulator/kubelet/events";
import { nodeIdsOf } from "../../../simulator/kubelet/objects";
import type { Deed, Happening, LoggedStateChange, RegistrarRole, Role } from "./happenings";
import { DRIVER_NAME } from "./stage";

export type Lane = Role | "API objects";

/** One row of a sequence picture, from top to bottom. */
export type Row = Content & { readonly atMs: number };

type Content = Deed | ReturnType<typeof note> | ReturnType<typeof call>;

type Mood = "good" | "bad" | "plain";

/**
 * What happened as rows of a picture, in order of time; `atMs` counts from `startedAt`. Kubelet knows only the path of
 * a registration socket: it belongs to the registrar that published there last. The driver is asked by the registrar that
 * started last.
 */
export function sequenceOf(happenings: readonly Happening[], startedAt: number): readonly Row[] {
  let owner: RegistrarRole = "registrar";
  let latest: RegistrarRole = "registrar";
  return [...happenings]
    .sort((a, b) => a.atMs - b.atMs)
    .flatMap((happening) => {
      if (happening.kind === "registrar" && happening.change.to === "listening") owner = happening.role;
      if (happening.kind === "begin" && isRegistrar(happening.lane)) latest = happening.lane;
      return contentOf(happening, owner, latest).map((content) => ({
        ...content,
        atMs: happening.atMs - startedAt,
      }));
    });
}

const isRegistrar = (lane: Role): lane is RegistrarRole =>
  lane === "registrar" || lane === "second registrar";

function contentOf(happening: Happening, owner: RegistrarRole, latest: RegistrarRole): readonly Content[] {
  switch (happening.kind) {
    case "driver":
      return driverRows(happening.event, latest);
    case "registrar":
      return registrarRows(happening.role, happening.change);
    case "kubelet":
      return kubeletRows(happening.event, owner);
    default:
      return [happening];
  }
}

function driverRows(event: CsiDriverEvent, latest: RegistrarRole): readonly Content[] {
  if (event.kind === "listening") return [note("driver", `listens on ${basename(event.csiAddress)}`)];
  if (event.kind !== "answered" || event.method !== "GetPluginInfo") return [];
  const { result } = event;
  return [
    result.kind === "ok"
      ? call(latest, "driver", event.method, DRIVER_NAME)
      : call(latest, "driver", event.method, result.error, true),
  ];
}

function registrarRows(
  role: RegistrarRole,
  { from, to, reason, driver }: LoggedStateChange,
): readonly Content[] {
  if (to === "standby") return [note(role, "stands by: another socket is there")];
  if (from === "standby") return [note(role, "sees that the other is gone")];
  if (reason === "socket-gone") return [note(role, "its socket is gone", "bad")];
  // Before the socket is there: by then kubelet may have seen it.
  return to === "publishing" ? [note(role, `publishes ${driver}${SOCKET_TAIL}`)] : [];
}

function kubeletRows(event: KubeletEvent, owner: RegistrarRole): readonly Content[] {
  switch (event.kind) {
    case "started":
      return [note("kubelet", `watches ${basename(event.pluginRegistrationPath)}`)];
    case "socket-seen":
      return [note("kubelet", event.replaced ? "sees a new socket" : "sees the socket")];
    case "socket-gone":
      return [note("kubelet", "sees that the socket is gone")];
    case "called":
      return event.call === "dial" ? [] : [calledRow(event.call, event.result, owner)];
    case "node-changed":
      return [call("kubelet", "API objects", "Node", `node IDs ${JSON.stringify(nodeIdsOf(event.node))}`)];
    case "csi-node-changed": {
      const names = event.csiNode.spec.drivers.map(({ name }) => name);
      return [call("kubelet", "API objects", "CSINode", `drivers: ${names.join(", ") || "none"}`)];
    }
    case "registered":
      return [note("kubelet", `${event.driverName} is registered`, "good")];
    case "deregistered":
      return [note("kubelet", `${event.driverName} is deregistered`, "bad")];
    case "refused":
      return [note("kubelet", `${event.driverName} is refused`, "bad")];
    default:
      return [];
  }
}

function note(lane: Lane, text: string, mood: Mood = "plain") {
  return { kind: "note", lane, text, mood } as const;
}

function call(from: Lane, to: Lane, name: string, answer: string, failed = false) {
  return { kind: "call", from, to, name, answer, failed } as const;
}

function calledRow(name: KubeletCall, result: CallResult, owner: RegistrarRole): Content {
  const to = name === "NodeGetInfo" ? "driver" : owner;
  return call("kubelet", to, name, answerText(result), result.kind === "error");
}

function answerText(result: CallResult): string {
  if (result.kind === "error") return result.error;
  if (result.answer === undefined) return "";
  if ("nodeId" in result.answer) return `node ID ${result.answer.nodeId}`;
  const { type, name, endpoint } = result.answer;
  return `${type} ${name} at ${basename(endpoint)}`;
}
