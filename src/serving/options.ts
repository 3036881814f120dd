import type { Server, ServerInterceptor, ServerOptions } from "@grpc/grpc-js";
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
   * callback, if it declares one, else by what it returns, or the promise of that.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: `void` alone would let an async function compile.
  readonly addServices: (server: Server) => void | undefined;
  /** What grpc-js' server is made with, such as `interceptors`. @default {} */
  readonly serverOptions?: Named<ServerOptions> | undefined;
  /** Milliseconds that running calls have to end in, when it closes. @default 10000 */
  readonly graceMs?: number | undefined;
}

/** Without the index signature that takes any name. */
type Named<Options> = { [Name in keyof Options as string extends Name ? never : Name]: Options[Name] };

const onOrOff = optional(wholeNumber(0, 1));
const ms = optional(wholeNumber(1, LONGEST_WAIT_MS));
const bytes = optional(
  kindOf("a whole number of bytes, or -1 for no limit", (given) =>
    Number.isSafeInteger(given) && Number(given) >= -1 ? Number(given) : undefined,
  ),
);

/** Of the same type in grpc-js (1.14), for clients: its server ignores them, and so a driver may share its options with a client. */
const OF_CLIENTS = [
  "grpc.ssl_target_name_override",
  "grpc.primary_user_agent",
  "grpc.secondary_user_agent",
  "grpc.default_authority",
  "grpc.keepalive_permit_without_calls",
  "grpc.service_config",
  "grpc.initial_reconnect_backoff_ms",
  "grpc.max_reconnect_backoff_ms",
  "grpc.use_local_subchannel_pool",
  "grpc.enable_http_proxy",
  "grpc.http_connect_target",
  "grpc.http_connect_creds",
  "grpc.default_compression_algorithm",
  "grpc.dns_min_time_between_resolutions_ms",
  "grpc.enable_retries",
  "grpc.per_rpc_retry_buffer_size",
  "grpc.retry_buffer_size",
  "grpc.service_config_disable_resolution",
  "grpc.client_idle_timeout_ms",
  "grpc.lb.ring_hash.ring_size_cap",
  "grpc-node.retry_max_attempts_limit",
  "grpc-node.flow_control_window",
] satisfies readonly (keyof Named<ServerOptions>)[];
const isOfClients = (name: string) => (OF_CLIENTS as readonly string[]).includes(name);

/**
 * What grpc-js' server reads besides its interceptors; it ignores every other name, and does not check a value: a wrong
 * one ends the process when a client connects, or changes nothing.
 */
export const GRPC_SERVER_OPTIONS = {
  "grpc.enable_channelz": onOrOff,
  "grpc.keepalive_time_ms": ms,
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

const SERVER_OPTIONS = {
  interceptors: optional(listOf(callbackOf<ServerInterceptor>())),
  ...GRPC_SERVER_OPTIONS,
};

const serverOptions = kindOf<ServerOptions>("an object with options of grpc-js' Server", (given, name) => {
  if (!isObject(given)) return undefined;
  const read = Object.fromEntries(Object.entries(given).filter(([name]) => !isOfClients(name)));
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
