import { attempt } from "../../../../base/errors";
import { parseListenAddress } from "../../../../diagnostics/endpoint";
import { list, numberOrNone, type Tree, text, tree } from "../../../../kube-api/objects";
import { flagsIn, wordsOf } from "./start";

export type PortUse = ReturnType<typeof portsOf>[number];

/** What registrars, livenessprobe, other sidecars and many drivers listen on: a port, or an address. */
const LISTEN_FLAGS = [
  ...["http-endpoint", "metrics-address", "metrics-addr", "metrics-bind-address"],
  ...["health-probe-bind-address", "listen-address", "health-port", "metrics-port"],
];

const LIVENESS_PROBE = /(?:^|[/-])liveness-?probe(?:[:@].*)?$/;
const LIVENESS_PORT = 9808;

export function portsOf(containers: readonly Tree[], isOnNode: boolean) {
  return containers.flatMap((one) => {
    const declared = list(one.ports)
      .map(tree)
      .filter(({ protocol = "TCP" }) => protocol === "TCP")
      .map(({ containerPort, hostPort, hostIP }) => ({
        port: numberOrNone(isOnNode ? containerPort : hostPort) ?? 0,
        /** Undefined: all addresses. */
        host: addressOf(text(hostIP)),
        isOnNode: true,
        /** `--health-port=9808`; undefined for a declared port, on which another container of the pod may listen. */
        flag: undefined,
      }));
    return [...listenersIn(one).map((listener) => ({ ...listener, isOnNode })), ...declared]
      .filter(({ port }) => port > 0)
      .map((use) => ({ ...use, container: text(one.name) }));
  });
}

function listenersIn(container: Tree) {
  const flags = flagsIn(wordsOf(container));
  const listeners = LISTEN_FLAGS.flatMap((name) => {
    const value = flags.get(name);
    const listen = value && attempt(() => parseListenAddress(name.endsWith("-port") ? `:${value}` : value));
    return listen
      ? { port: listen.port, host: addressOf(listen.host ?? ""), flag: `--${name}=${value}` }
      : [];
  });
  const isProbe = LIVENESS_PROBE.test(text(container.image)) && list(container.command).length === 0;
  const isByDefault = ["http-endpoint", "health-port"].every((name) => flags.get(name) === undefined);
  const flag = `--health-port=${LIVENESS_PORT} by default`;
  return isProbe && isByDefault ? [...listeners, { port: LIVENESS_PORT, host: undefined, flag }] : listeners;
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
