import { list, type Tree, text, textOrNone, tree } from "../../../../kube-api/objects";
import { behindRegistrar, type Program } from "../../../recognise/program";
import { settingsOf } from "./settings";
import { environmentOf } from "./start";

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

export type ProbeFacts = ReturnType<typeof probesOf>[number];

export function probesOf(container: Tree, program: Program) {
  const fill = environmentOf(container);
  const ports = new Map(list(container.ports).map((port) => [tree(port).name, tree(port).containerPort]));
  return PROBES.flatMap((kind) => {
    const probe = tree(container[kind]);
    const { exec, grpc, httpGet, tcpSocket } = probe;
    if ([exec, grpc, httpGet, tcpSocket].every((way) => !way)) return [];
    const asked = tree(httpGet ?? grpc ?? tcpSocket);
    const http = asked.scheme === "HTTPS" ? "HTTPS" : "HTTP";
    const command = list(tree(exec).command).map((word) => fill(text(word)).text);
    const own = behindRegistrar(command);
    return {
      kind,
      /** Kubelet runs a command in the container (exec), or connects to a port. */
      asks: httpGet ? http : grpc ? "gRPC" : tcpSocket ? "TCP" : "exec",
      /** Undefined: kubelet connects to the pod's address. */
      host: textOrNone(asked.host),
      /** A number, or the name of a port that the container does not have. */
      port: text(ports.get(asked.port) ?? asked.port),
      path: httpGet ? text(asked.path ?? "/") : undefined,
      command,
      /** Undefined: the command is another program's. */
      settings: own && settingsOf(own, program),
    };
  });
}
