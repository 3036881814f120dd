import type { Server, ServerOptions } from "@grpc/grpc-js";
import { isObject } from "../base/refuse-option";
import { callbackOf, hostSocketPath, kindOf, milliseconds, socketPath } from "../options/option-kinds";
import { optional, readOptions, required } from "../options/read-options";
import type { Resolved, ResolvedStartOptions, StartOptions } from "../options/start-options";
import { COMMON_OPTIONS, type RegistrationFailurePolicy } from "../registrar/model/options";

/** How to serve and register a CSI driver of this process. */
export interface CsiServingOptions extends StartOptions {
  /** Where to listen, as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. Its folder must exist. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host, an absolute path. @default csiAddress */
  readonly endpoint?: string | undefined;
  /**
   * Adds the driver's services, before it returns. Identity must be among them: GetPluginInfo gives the name to register.
   * The server is grpc-js' own; it has its socket already, so do not bind it.
   */
  readonly addServices: (server: Server) => void;
  /** What grpc-js' server is made with, such as `interceptors`. @default {} */
  readonly serverOptions?: ServerOptions | undefined;
  /** The plugin registration directory, where the registration socket goes. @default "/registration" */
  readonly pluginRegistrationPath?: string | undefined;
  /** On refusal, end (`exit`) or stay and publish again with backoff (`retry`). @default "exit" */
  readonly onRegistrationFailure?: RegistrationFailurePolicy | undefined;
  /** Bounds each call that is made to registration sockets, in milliseconds. @default 1000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that running calls have to end in, when it closes. @default 10000 */
  readonly graceMs?: number | undefined;
}

export type ResolvedCsiServingOptions = Resolved<CsiServingOptions>;

const serverOptions = kindOf("an object with options of grpc-js' Server", (given) =>
  isObject(given) ? (given as ServerOptions) : undefined,
);

/** Fills defaults and checks. Throws INVALID_OPTION. */
export function resolveServingOptions(
  options: CsiServingOptions,
): ResolvedCsiServingOptions & ResolvedStartOptions {
  const given = readOptions("serveCsiDriver", options, {
    csiAddress: required(socketPath),
    endpoint: optional(hostSocketPath),
    addServices: required(callbackOf<CsiServingOptions["addServices"]>()),
    serverOptions: optional(serverOptions, {}),
    graceMs: optional(milliseconds({ orZero: true }), 10_000),
    ...COMMON_OPTIONS,
  });
  return { ...given, endpoint: given.endpoint ?? given.csiAddress };
}
