import { attempt } from "../../../base/errors";
import { parseListenAddress } from "../../../diagnostics/endpoint";
import { list, numberOrNone, type Tree, text, tree } from "../../../kube-api/objects";
import { flagIn, wordsOf } from "./start";

/** A TCP port that a container listens on or declares. */
export interface PortUse {
  readonly container: string;
  readonly port: number;
  /** Undefined: all addresses. */
  readonly host: string | undefined;
  readonly isOnNode: boolean;
  /** `--health-port=9808`; undefined for a declared port, on which another container of the pod may listen. */
  readonly flag: string | undefined;
}

/** What registrars, livenessprobe, other sidecars and many drivers listen on. */
const LISTEN_FLAGS = {
  "http-endpoint": "address",
  "metrics-address": "address",
  "metrics-addr": "address",
  "metrics-bind-address": "address",
  "health-probe-bind-address": "address",
  "listen-address": "address",
  "health-port": "port",
  "metrics-port": "port",
} as const;

const LIVENESS_PROBE = /(?:^|[/-])liveness-?probe(?:[:@].*)?$/;
const LIVENESS_PORT = 9808;

export function portsOf(containers: readonly Tree[], isOnNode: boolean): readonly PortUse[] {
  return containers.flatMap((one) => {
    const container = text(one.name);
    const declared = list(one.ports)
      .map(tree)
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .flatMap(({ containerPort, hostPort, hostIP }) => {
        const port = numberOrNone(isOnNode ? containerPort : hostPort) ?? 0;
        return port > 0 ? [{ port, host: addressOf(text(hostIP)), flag: undefined, isOnNode: true }] : [];
      });
    return [...listenersIn(one).map((listener) => ({ ...listener, isOnNode })), ...declared].map((use) => ({
      ...use,
      container,
    }));
  });
}

function listenersIn(container: Tree): readonly Pick<PortUse, "port" | "host" | "flag">[] {
  const words = wordsOf(container);
  const listeners = Object.entries(LISTEN_FLAGS).flatMap(([name, form]) => {
    const value = flagIn(words, name);
    const listen = value && attempt(() => parseListenAddress(form === "port" ? `:${value}` : value));
    return listen ? [{ ...listen, host: addressOf(listen.host ?? ""), flag: `--${name}=${value}` }] : [];
  });
  const isProbe = LIVENESS_PROBE.test(text(container.image)) && list(container.command).length === 0;
  const isByDefault = ["http-endpoint", "health-port"].every((name) => flagIn(words, name) === undefined);
  if (isProbe && isByDefault)
    listeners.push({
      port: LIVENESS_PORT,
      host: undefined,
      flag: `--health-port=${LIVENESS_PORT} by default`,
    });
  return listeners.filter(({ port }) => port > 0);
}

function addressOf(host: string): string | undefined {
  if (host === "localhost") return "127.0.0.1";
  return ["", "0.0.0.0", "::"].includes(host) ? undefined : host;
}

/** Whether the second of them cannot listen. */
export function collide(one: PortUse, other: PortUse): boolean {
  const isSome = one.host === undefined || other.host === undefined || one.host === other.host;
  return one.port === other.port && isSome;
}
