import type { PluginType } from "../../kubelet-rules/versions";
import { socketPathKind } from "../../options/option-kinds";
import type { Resolved, StartOptions } from "../../options/start-options";
import { parseCsiAddress, pathInUnixAddress } from "../../unix/socket-path";
import type { RegistrationEvent } from "./events";

export type { PluginType };

/** The versions that kubelet gets for a CSI driver, as from the official registrar since 2018. */
export const CSI_VERSIONS: readonly string[] = ["1.0.0"];

/** What a refusal by kubelet leads to: another try, or the end of the registration. */
export type RegistrationFailurePolicy = "retry" | "end";

/** The options of every registration. Times are milliseconds, 24 days at most. */
export interface SharedRegistrationOptions extends StartOptions {
  /** The plugin registration directory, where the registration socket goes. @default "/registration" */
  readonly pluginRegistrationPath?: string | undefined;
  /**
   * Milliseconds that a call of ours may take: to a registration socket, as of `selfCheck()`, and to the driver by
   * `startRegistrar` and `startNodeRegistrar`. It bounds no call of kubelet's, and not the first GetPluginInfo of
   * `serveCsiDriver`. @default 1000
   */
  readonly timeoutMs?: number | undefined;
  /** On refusal, publish again with backoff (`retry`), or end with outcome `refused` (`end`). @default "retry" */
  readonly onRegistrationFailure?: RegistrationFailurePolicy | undefined;
  /** Called with each event from the first one on; `subscribe` misses what happens before it is called. @default nothing */
  readonly onEvent?: ((event: RegistrationEvent) => unknown) | undefined;
}

/** The options of a registrar for a driver that runs elsewhere. */
export interface RegistrarOptions extends SharedRegistrationOptions {
  /** The CSI driver socket as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host, absolute, also with `unix://`: `--kubelet-registration-path`. */
  readonly endpoint: string;
  /** Fail when the driver has not reported its name by then; 0 waits without end. @default 0 */
  readonly driverTimeoutMs?: number | undefined;
  /** Register again when the driver came back, so that kubelet reads its node information anew. @default false */
  readonly reregisterOnDriverRestart?: boolean | undefined;
}

/** What one registration runs by, every default filled in and every value checked. */
export interface ResolvedOptions extends Omit<Resolved<SharedRegistrationOptions>, "onRegistrationFailure"> {
  /** `exit`: an end after which the process exits, so that its container restarts. */
  readonly onRegistrationFailure: RegistrationFailurePolicy | "exit";
  readonly type: PluginType;
  readonly supportedVersions: readonly string[];
  readonly endpoint: string;
  readonly csiAddress?: string;
  /** The path in `csiAddress`; neither is there where the driver runs in this process. */
  readonly csiSocketPath?: string;
  /** Of a DRA driver that has several, this one. */
  readonly instance?: string | undefined;
  /** Part of a node-wide registrar, which leaves a driver to another living registrar. */
  readonly isNodeWide: boolean;
}

export type ResolvedRegistrarOptions = ResolvedOptions &
  Required<Omit<ResolvedOptions, "instance">> &
  Omit<Resolved<RegistrarOptions>, "onRegistrationFailure">;

/** What is the same for each CSI driver that runs elsewhere. */
export const OF_A_CSI_DRIVER = { type: "CSIPlugin", supportedVersions: CSI_VERSIONS } as const;

/** A driver's socket: the address as it was given, with `unix:`, because the log shows it, and the path; both absolute. */
export const csiSocketOf = (address: string, csiSocketPath: string) => ({
  csiAddress: pathInUnixAddress(address) === csiSocketPath ? address : csiSocketPath,
  csiSocketPath,
});

/** The driver's socket in a `--csi-address`. Throws INVALID_OPTION. */
export const readCsiAddress = (address: string) =>
  csiSocketOf(address, socketPathKind.read(parseCsiAddress(address), "csi-address"));
