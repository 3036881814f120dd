import type { Server, ServerInterceptor, ServerOptions } from "@grpc/grpc-js";
import {
  callbackOf,
  hostSocketPath,
  isObject,
  kindOf,
  listOf,
  milliseconds,
  socketPathKind,
} from "../options/option-kinds";
import { optional, readOptions, required } from "../options/read-options";
import { COMMON_OPTIONS, type CommonOptions } from "../registrar/model/options";

/** The options of a CSI driver in this process. */
export interface CsiServingOptions extends CommonOptions {
  /** Where to listen, as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. Its directory must exist. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host, an absolute path. @default csiAddress */
  readonly endpoint?: string | undefined;
  /**
   * Adds the driver's services, before it returns. Identity must be among them: GetPluginInfo gives the name to register.
   * The server is grpc-js' own and has its socket: do not bind it. A unary handler answers by its callback, by the promise that
   * it returns, or, if it declares fewer than two parameters, by what it returns.
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: `void` alone would let an async function compile.
  readonly addServices: (server: Server) => void | undefined;
  /** What grpc-js' server is made with, such as `interceptors`. @default {} */
  readonly serverOptions?: ServerOptions | undefined;
  /** Milliseconds that running calls have to end in, when it closes. @default 10000 */
  readonly graceMs?: number | undefined;
}

const interceptors = listOf(callbackOf<ServerInterceptor>());

/** Checks only what grpc-js would fail with at the first call, outside of any caller. */
const serverOptions = kindOf<ServerOptions>("an object with options of grpc-js' Server", (given, name) => {
  if (!isObject(given)) return undefined;
  const { interceptors: list, ...others }: ServerOptions = given;
  if (list === undefined) return others;
  return { ...others, interceptors: [...interceptors.read(list, `${name}: interceptors`)] };
});

export function resolveServingOptions(options: CsiServingOptions) {
  const given = readOptions("serveCsiDriver", options, {
    csiAddress: required(socketPathKind),
    endpoint: optional(hostSocketPath),
    addServices: required(callbackOf<CsiServingOptions["addServices"]>()),
    serverOptions: optional(serverOptions, {}),
    graceMs: optional(milliseconds({ orZero: true }), 10_000),
    ...COMMON_OPTIONS,
  });
  return { ...given, endpoint: given.endpoint ?? given.csiAddress };
}
