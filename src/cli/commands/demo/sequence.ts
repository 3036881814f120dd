import { basename } from "node:path";
import type { CallResult, KubeletCall, KubeletEvent } from "../../../simulator/kubelet/events";
import { nodeIdsOf } from "../../../simulator/kubelet/node";
import type { Deed, Happening, LogLine, RegistrarRole, Role } from "./happenings";

export type Lane = Role | "API objects";

/** One row of a sequence picture, from top to bottom. */
export type Row = Content & { readonly atMs: number };

type Content = Deed | ReturnType<typeof note> | ReturnType<typeof call>;

type Mood = "good" | "bad" | "plain";

/**
 * What happened as rows of a picture, in order of time; `atMs` counts from `startedAt`. Kubelet knows only the path of
 * a registration socket: it belongs to the registrar that published there last.
 */
export function sequenceOf(happenings: readonly Happening[], startedAt: number): readonly Row[] {
  let owner: RegistrarRole = "registrar";
  return [...happenings]
    .sort((a, b) => a.atMs - b.atMs)
    .flatMap((happening) => {
      if (happening.kind === "registrar" && happening.line.msg === PUBLISHED) owner = happening.role;
      return contentOf(happening, owner).map((content) => ({ ...content, atMs: happening.atMs - startedAt }));
    });
}

const PUBLISHED = "Registration Server started";

function contentOf(happening: Happening, owner: RegistrarRole): readonly Content[] {
  switch (happening.kind) {
    case "driver":
      return happening.event.kind === "listening"
        ? [note("driver", `listens on ${basename(happening.event.csiAddress)}`)]
        : [];
    case "registrar":
      return registrarRows(happening.role, happening.line);
    case "kubelet":
      return kubeletRows(happening.event, owner);
    default:
      return [happening];
  }
}

function registrarRows(role: RegistrarRole, line: LogLine): readonly Content[] {
  switch (line.msg) {
    case "GRPC response": {
      const name = /"name":"([^"]*)"/.exec(String(line.response))?.[1];
      const answer = name ?? String(line.err ?? line.response);
      return [call(role, "driver", "GetPluginInfo", answer, name === undefined)];
    }
    // Not the line that follows it: by then kubelet may have seen the socket.
    case "Starting Registration Server":
      return [note(role, `publishes ${basename(String(line.socketPath))}`)];
    case "Lost connection":
      return [note(role, "loses the driver", "bad")];
    case "Connection restored":
      return [note(role, `the driver is back after ${line.after}`, "good")];
    case "Registration state changed":
      if (line.to === "standby") return [note(role, "stands by: another socket is there")];
      if (line.from === "standby") return [note(role, "sees that the other is gone")];
      if (line.reason === "socket-gone") return [note(role, "its socket is gone", "bad")];
      return [];
    default:
      return [];
  }
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
