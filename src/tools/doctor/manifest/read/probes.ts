import { list, numberOrNone, type Tree, text, textOrNone, tree } from "../../../../kube-api/objects";
import { behindRegistrar, type Program } from "../../../images/program";
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
    const asked = tree(grpc ?? httpGet ?? tcpSocket);
    const asks = wayToAsk({ exec, grpc, httpGet, tcpSocket });
    if (asks === undefined) return [];
    const command = list(tree(exec).command).map((word) => fill(text(word)).text);
    const own = behindRegistrar(command);
    return [
      {
        kind,
        asks,
        /** Undefined: kubelet connects to the pod's address. */
        host: textOrNone(asked.host),
        /** A number, or the name of a port that the container does not have. */
        port: text(ports.get(asked.port) ?? asked.port),
        /** A name that none of the container's ports has. */
        isUnnamed: typeof asked.port === "string" && !/^\d+$/.test(asked.port) && !ports.has(asked.port),
        path: httpGet === undefined ? undefined : text(asked.path ?? "/"),
        command,
        timing: timingOf(probe),
        /** Undefined: the command is another program's. */
        settings: own && settingsOf(own, program),
      },
    ];
  });
}

/** With Kubernetes' defaults. */
function timingOf({ initialDelaySeconds, timeoutSeconds, periodSeconds, failureThreshold }: Tree) {
  const count = (value: unknown, byDefault: number) => numberOrNone(value) || byDefault;
  return {
    initialDelaySeconds: count(initialDelaySeconds, 0),
    timeoutSeconds: count(timeoutSeconds, 1),
    periodSeconds: count(periodSeconds, 10),
    failureThreshold: count(failureThreshold, 3),
  };
}

/** Kubelet runs a command in the container (exec), or connects to a port. */
function wayToAsk({ exec, grpc, httpGet, tcpSocket }: Tree) {
  if (httpGet !== undefined) return tree(httpGet).scheme === "HTTPS" ? "HTTPS" : "HTTP";
  if (grpc !== undefined) return "gRPC";
  if (tcpSocket !== undefined) return "TCP";
  return exec === undefined ? undefined : "exec";
}
