import { join, resolve } from "node:path";
import { invalidOption } from "../../base/errors";
import {
  callbackOf,
  directoryPath,
  flag,
  hostSocketPath,
  kindOf,
  listOf,
  milliseconds,
  oneOf,
  socketPathKind,
  textKind,
} from "../../options/option-kinds";
import { type OptionTable, optional, readOptions, required } from "../../options/read-options";
import { type Resolved, type ResolvedStartOptions, START_OPTIONS } from "../../options/start-options";
import type { RegistrationEvent } from "./events";
import {
  CSI_VERSIONS,
  csiSocketOf,
  OF_A_CSI_DRIVER,
  type PluginType,
  type RegistrarOptions,
  type RegistrationFailurePolicy,
  type ResolvedRegistrarOptions,
  type SharedRegistrationOptions,
} from "./options";

// What callers of the library give; a registration of the CLI reads flags instead, and does not load this.

/** The options of a registration of a driver in this process. */
export type RegistrationOptions =
  | CsiRegistrationOptions
  | DraRegistrationOptions
  | DevicePluginRegistrationOptions;

/** Those of a CSI driver. */
export interface CsiRegistrationOptions extends InProcessOptions {
  /** What kubelet registers it as. @default "CSIPlugin" */
  readonly type?: "CSIPlugin" | undefined;
  /** The versions of CSI that kubelet gets. @default ["1.0.0"] */
  readonly supportedVersions?: readonly string[] | undefined;
  /** Kubelet keeps one CSI driver of a name. */
  readonly instance?: undefined;
}

/** Those of a DRA driver. */
export interface DraRegistrationOptions extends InProcessOptions {
  /** What kubelet registers it as. */
  readonly type: "DRAPlugin";
  /** The gRPC services that the driver serves, such as `v1.DRAPlugin`; one at least. */
  readonly supportedVersions: readonly string[];
  /**
   * The UID of the driver's pod, with which kubelet 1.33 and newer registers the old and the new instance of the driver
   * side by side. Each needs an `endpoint` of its own, and must be closed: no other removes the socket of one that was killed.
   * Without it, the newest takes the place of the others. @default none
   */
  readonly instance?: string | undefined;
}

/** Those of a device plugin. */
export interface DevicePluginRegistrationOptions extends InProcessOptions {
  /** What kubelet registers it as. */
  readonly type: "DevicePlugin";
  /** The versions of the device plugin API: `v1beta1`. */
  readonly supportedVersions: readonly string[];
  /** Kubelet keeps one device plugin of a name. */
  readonly instance?: undefined;
}

interface InProcessOptions extends SharedRegistrationOptions {
  /** The driver's name: a CSI driver's as in its GetPluginInfo, a device plugin's resource. */
  readonly name: string;
  /**
   * The driver's socket as kubelet sees it on the host, absolute, also with `unix://`. Kubelet calls a CSI driver's NodeGetInfo there
   * before it says that it is registered, so the driver should listen already.
   */
  readonly endpoint: string;
}

const csiSocket = kindOf(socketPathKind.takes, (given, name) =>
  csiSocketOf(String(given), socketPathKind.read(given, name)),
);

const nonEmpty = (takes: string) =>
  kindOf(takes, (given) => (typeof given === "string" && given !== "" ? given : undefined));

/** The UID of a static pod is a digest. */
const podUid = kindOf("a pod's UID: letters, digits and '-', 64 at most", (given) =>
  typeof given === "string" && /^[0-9a-z](?:[0-9a-z-]{0,62}[0-9a-z])?$/i.test(given) ? given : undefined,
);

export const COMMON_OPTIONS: OptionTable<Resolved<SharedRegistrationOptions> & ResolvedStartOptions> = {
  pluginRegistrationPath: optional(directoryPath, "/registration"),
  timeoutMs: optional(milliseconds(), 1_000),
  onRegistrationFailure: optional(oneOf<RegistrationFailurePolicy>(["retry", "end"]), "retry"),
  onEvent: optional(callbackOf<(event: RegistrationEvent) => unknown>(), () => {}),
  ...START_OPTIONS,
};

/** Fills defaults and checks; no other place knows either. Throws INVALID_OPTION. */
export function resolveOptions(options: RegistrarOptions): ResolvedRegistrarOptions & ResolvedStartOptions {
  const { csiAddress: socket, ...read } = readOptions("startRegistrar", options, {
    csiAddress: required(csiSocket),
    endpoint: required(hostSocketPath),
    driverTimeoutMs: optional(milliseconds({ orZero: true }), 0),
    reregisterOnDriverRestart: optional(flag, false),
    ...COMMON_OPTIONS,
  });
  return { ...read, ...socket, ...OF_A_CSI_DRIVER, isNodeWide: false };
}

/** The same for a driver in this process, whose name is judged elsewhere. Throws INVALID_OPTION. */
export function resolveRegistrationOptions(options: RegistrationOptions) {
  const given = readOptions("startRegistration", options, {
    name: required(textKind),
    endpoint: required(hostSocketPath),
    type: optional(oneOf<PluginType>(["CSIPlugin", "DRAPlugin", "DevicePlugin"]), "CSIPlugin"),
    supportedVersions: optional(listOf(nonEmpty("a version"))),
    instance: optional(podUid),
    ...COMMON_OPTIONS,
  });
  refuseInRegistry("startRegistration: endpoint", given.endpoint, given.pluginRegistrationPath);
  if (given.instance !== undefined && given.type !== "DRAPlugin")
    throw invalidOption(
      `startRegistration: instance is for type DRAPlugin; kubelet keeps one ${given.type} of a name`,
    );
  const supportedVersions = given.supportedVersions ?? (given.type === "CSIPlugin" ? CSI_VERSIONS : []);
  if (supportedVersions.length > 0) return { ...given, supportedVersions };
  throw invalidOption(
    `startRegistration: supportedVersions is missing or empty; name the versions or services of the ${given.type}`,
  );
}

/** Throws INVALID_OPTION for a driver's socket in the plugin registration directory, also in a folder there. */
export function refuseInRegistry(option: string, socketPath: string, pluginRegistrationPath: string): void {
  if (!resolve(socketPath).startsWith(join(pluginRegistrationPath, "/"))) return;
  const why = "where kubelet would take it for a registration socket; give the driver another directory";
  throw invalidOption(`${option} ${socketPath} is in the plugin registration directory, ${why}`);
}
