import { callbackOf, hostSocketPath, milliseconds, socketPath } from "../options/option-kinds";
import { optional, readOptions, required } from "../options/read-options";
import type { ResolvedStartOptions, StartOptions } from "../options/start-options";
import { COMMON_OPTIONS, type RegistrationFailurePolicy } from "../registrar/model/options";

/** A method as its stub describes it; those that grpc-js and proto-loader make will do. */
export interface CsiMethodDefinition {
  /** `/csi.v1.Node/NodePublishVolume`. */
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (request: never) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (response: never) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
}

/** A service's stub: its methods by name. */
export type CsiServiceDefinition = Readonly<Record<string, CsiMethodDefinition>>;

/** Where a driver adds its services, as it would to a `Server` of grpc-js. */
export interface CsiServiceHost {
  /**
   * Serves the methods that have a handler; others are answered with UNIMPLEMENTED. A handler is a `CsiMethodHandler`,
   * by the method's name with the first letter in either case; `handlers` may be an object of a class, and is `this`.
   * Throws INVALID_OPTION for what is no definition, a handler that is no function or of a method with a stream, and a
   * function whose name looks like that of a method without a handler.
   */
  addService(definition: CsiServiceDefinition, handlers: object): void;
}

/** How to serve and register a CSI driver of this process. */
export interface CsiServingOptions extends StartOptions {
  /** Where to listen, as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. Its folder must exist. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host, an absolute path. @default csiAddress */
  readonly endpoint?: string | undefined;
  /** Adds the driver's services. Identity must be among them: GetPluginInfo tells the name to register. */
  readonly addServices: (server: CsiServiceHost) => void;
  /** The plugin registration directory, where the registration socket goes. @default "/registration" */
  readonly pluginRegistrationPath?: string | undefined;
  /** On refusal, end (`exit`) or stay and publish again with backoff (`retry`). @default "exit" */
  readonly onRegistrationFailure?: RegistrationFailurePolicy | undefined;
  /** Bounds each call that is made to registration sockets, in milliseconds. @default 1000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that running calls have to end in, when it closes. @default 10000 */
  readonly graceMs?: number | undefined;
}

export interface ResolvedCsiServingOptions {
  readonly csiAddress: string;
  readonly endpoint: string;
  readonly addServices: (server: CsiServiceHost) => void;
  readonly pluginRegistrationPath: string;
  readonly onRegistrationFailure: RegistrationFailurePolicy;
  readonly timeoutMs: number;
  readonly graceMs: number;
}

type Given = Omit<ResolvedCsiServingOptions, "endpoint"> &
  ResolvedStartOptions & { readonly endpoint: string | undefined };

/** Fills defaults and checks. Throws INVALID_OPTION. */
export function resolveServingOptions(
  options: CsiServingOptions,
): ResolvedCsiServingOptions & ResolvedStartOptions {
  const given = readOptions<Given>("serveCsiDriver", options, {
    csiAddress: required(socketPath),
    endpoint: optional(hostSocketPath),
    addServices: required(callbackOf<CsiServingOptions["addServices"]>()),
    graceMs: optional(milliseconds({ orZero: true }), 10_000),
    ...COMMON_OPTIONS,
  });
  return { ...given, endpoint: given.endpoint ?? given.csiAddress };
}
