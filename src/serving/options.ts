import type { Server, ServerInterceptor, ServerOptions } from "@grpc/grpc-js";
import { nearWord } from "../base/near-word";
import { LONGEST_WAIT_MS } from "../base/pause";
import {
  callbackOf,
  hostSocketPath,
  isObject,
  kindOf,
  listOf,
  milliseconds,
  socketPathKind,
  wholeNumber,
} from "../options/option-kinds";
import { optional, readOptions, required } from "../options/read-options";
import { COMMON_OPTIONS, refuseInRegistry } from "../registrar/model/library-options";
import type { SharedRegistrationOptions } from "../registrar/model/options";

/** The options of a CSI driver in this process. */
export interface ServedCsiDriverOptions extends SharedRegistrationOptions {
  /** Where to listen, as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. Its directory must exist. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host, absolute, also with `unix://`. @default csiAddress */
  readonly endpoint?: string | undefined;
  /**
   * Adds the driver's services, before it returns. Identity must be among them: GetPluginInfo gives the name to register.
   * The server is grpc-js' own and has its socket: do not bind it. A unary handler is made by `unaryHandler`, or answers by its
   * callback, if it declares one, else by its return value, or a promise of one.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: `void` alone would let an async function compile.
  readonly addServices: (server: Server) => void | undefined;
  /** What grpc-js' server is made with, such as `interceptors`; it ignores the names of clients and of other servers. @default {} */
  readonly serverOptions?: (Named<ServerOptions> & OfOtherServers) | undefined;
  /** Milliseconds that running calls have to end in, when it closes. @default 10000 */
  readonly graceMs?: number | undefined;
}

/** Without the index signature that takes any name. */
type Named<Options> = { [Name in keyof Options as string extends Name ? never : Name]: Options[Name] };

/** Of gRPC's servers in other languages, `channel_arg_names.h` in grpc/grpc. */
type OfOtherServers = {
  readonly [Name in
    | `grpc.http2.${string}`
    | `grpc.${"absolute_max_metadata_size" | "max_metadata_size" | "server_handshake_timeout_ms" | "so_reuseport"}`]?: unknown;
};

const onOrOff = optional(wholeNumber(0, 1));
/** Cut to the longest wait of a timer: grpc-js takes a longer time for no limit, except a timeout, which would pass at once. */
const msFrom = (least: number) =>
  optional(
    kindOf(`a whole number of milliseconds, ${least} or more, or Infinity`, (given) =>
      (Number.isInteger(given) || given === Number.POSITIVE_INFINITY) && Number(given) >= least
        ? Math.min(Number(given), LONGEST_WAIT_MS)
        : undefined,
    ),
  );
const ms = msFrom(1);
const bytes = optional(
  kindOf("a whole number of bytes, or -1 or Infinity for no limit", (given) =>
    given === Number.POSITIVE_INFINITY || (Number.isSafeInteger(given) && Number(given) >= -1)
      ? Number(given)
      : undefined,
  ),
);

/**
 * What grpc-js' server (1.14) reads besides its interceptors; it ignores every other name, and does not check a value: a wrong
 * one ends the process when a client connects, or changes nothing.
 */
export const GRPC_SERVER_OPTIONS = {
  "grpc.enable_channelz": onOrOff,
  "grpc.keepalive_time_ms": msFrom(0), // 0 sends no ping.
  "grpc.keepalive_timeout_ms": ms,
  "grpc.max_concurrent_streams": optional(wholeNumber(1, 2 ** 32 - 1)),
  "grpc.max_connection_age_grace_ms": ms,
  "grpc.max_connection_age_ms": ms,
  "grpc.max_connection_idle_ms": ms,
  "grpc.max_receive_message_length": bytes,
  "grpc.max_send_message_length": bytes,
  "grpc.server_call_metric_recording": onOrOff,
  "grpc-node.max_session_memory": optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  "grpc-node.tls_enable_trace": onOrOff,
};

/** Whether it is a name of gRPC that its server ignores, and not a mistyped one: a driver may share its options with a client. */
const isIgnored = (name: string) =>
  /^grpc(?:-node)?\./.test(name) && nearWord(name, Object.keys(GRPC_SERVER_OPTIONS), 2) === undefined;

const SERVER_OPTIONS = {
  interceptors: optional(listOf(callbackOf<ServerInterceptor>())),
  ...GRPC_SERVER_OPTIONS,
};

const serverOptions = kindOf<ServerOptions>("an object with options of grpc-js' Server", (given, name) => {
  if (!isObject(given)) return undefined;
  const read = Object.fromEntries(Object.entries(given).filter(([name]) => !isIgnored(name)));
  return readOptions<object>(name, read, SERVER_OPTIONS) as ServerOptions;
});

export function resolveServingOptions(options: ServedCsiDriverOptions) {
  const given = readOptions("serveCsiDriver", options, {
    csiAddress: required(socketPathKind),
    endpoint: optional(hostSocketPath),
    addServices: required(callbackOf<ServedCsiDriverOptions["addServices"]>()),
    serverOptions: optional(serverOptions, {}),
    graceMs: optional(milliseconds({ orZero: true }), 10_000),
    ...COMMON_OPTIONS,
  });
  const { csiAddress, endpoint = csiAddress, pluginRegistrationPath } = given;
  refuseInRegistry("serveCsiDriver: csiAddress", csiAddress, pluginRegistrationPath);
  refuseInRegistry("serveCsiDriver: endpoint", endpoint, pluginRegistrationPath);
  return { ...given, endpoint };
}
