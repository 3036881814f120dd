import { isAbsolute } from "node:path";
import { RegistrarError } from "../errors";
import { LONGEST_WAIT_MS } from "../pause";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "../sockets/socket-path";
import { parseCsiAddress } from "./driver/csi-address";

/** What to do when kubelet refuses the driver. */
export type RegistrationFailurePolicy = "exit" | "retry";

const POLICIES: readonly RegistrationFailurePolicy[] = ["exit", "retry"];

/** What every registration may be told. Times are milliseconds. */
export interface CommonOptions {
  /** The plugin registration directory, where the registration socket goes. @default "/registration" */
  readonly pluginRegistrationPath?: string;
  /** Bounds each single call that is made: to the driver, and to registration sockets. @default 1000 */
  readonly timeoutMs?: number;
  /** On refusal, end with outcome `refused` (`exit`) or stay and publish again with backoff (`retry`). @default "exit" */
  readonly onRegistrationFailure?: RegistrationFailurePolicy;
}

/** What a registrar is told. Times are milliseconds. */
export interface RegistrarOptions extends CommonOptions {
  /** The CSI driver socket as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host; kubelet is given it as the driver's endpoint. */
  readonly kubeletRegistrationPath: string;
  /** Fail when the driver has not told its name by then, 24 days at most; 0 waits without end. @default 0 */
  readonly driverTimeoutMs?: number;
  /** Register again when the driver came back, so that kubelet reads its node information anew. @default false */
  readonly reregisterOnDriverRestart?: boolean;
}

/** Options with every default filled in and every value checked. */
export interface ResolvedRegistrarOptions extends Required<RegistrarOptions> {
  /** The path in `csiAddress`. */
  readonly csiSocketPath: string;
}

/** What the registration of a driver in this process is told. Times are milliseconds. */
export interface RegistrationOptions extends CommonOptions {
  /** The driver's name, the same as its GetPluginInfo tells. */
  readonly name: string;
  /**
   * The driver's CSI socket as kubelet sees it on the host, an absolute path. Kubelet calls NodeGetInfo there before
   * it says that the driver is registered, so the driver should listen already.
   */
  readonly endpoint: string;
}

/** Fills defaults and checks ranges; no other place knows either. Throws INVALID_OPTION. */
export function resolveOptions(options: RegistrarOptions): ResolvedRegistrarOptions {
  const {
    csiAddress,
    kubeletRegistrationPath,
    driverTimeoutMs = 0,
    reregisterOnDriverRestart = false,
  } = options;
  const csiSocketPath = parseCsiAddress(csiAddress);
  if (!fitsSocketPath(csiSocketPath))
    refuse(
      `csi-address ${csiAddress} is too long: a unix socket path may have ${MAX_SOCKET_PATH_BYTES} bytes`,
    );
  if (kubeletRegistrationPath === "") refuse("kubelet-registration-path is a required parameter");
  const common = resolveCommon(options);
  checkWait("driver-timeout", driverTimeoutMs, "; 0 is no limit");
  return {
    csiAddress,
    csiSocketPath,
    kubeletRegistrationPath,
    ...common,
    driverTimeoutMs,
    reregisterOnDriverRestart,
  };
}

/** The same for a driver in this process, whose name is judged elsewhere. Throws INVALID_OPTION. */
export function resolveRegistrationOptions(options: RegistrationOptions): Required<RegistrationOptions> {
  const { name, endpoint } = options;
  if (typeof name !== "string") refuse("name must be the driver's name");
  if (typeof endpoint !== "string" || !isAbsolute(endpoint) || endpoint.includes("\0"))
    refuse(
      `endpoint ${JSON.stringify(endpoint)} must be the absolute path of the driver's socket on the host, without unix://`,
    );
  if (!fitsSocketPath(endpoint))
    refuse(`endpoint ${endpoint} is too long: a unix socket path may have ${MAX_SOCKET_PATH_BYTES} bytes`);
  return { name, endpoint, ...resolveCommon(options) };
}

function resolveCommon(options: CommonOptions): Required<CommonOptions> {
  const {
    pluginRegistrationPath = "/registration",
    timeoutMs = 1_000,
    onRegistrationFailure = "exit",
  } = options;
  if (pluginRegistrationPath === "") refuse("plugin-registration-path must not be empty");
  if (!(timeoutMs > 0)) refuse("timeout must be more than 0: no call could ever succeed");
  if (!POLICIES.includes(onRegistrationFailure))
    refuse(`on-registration-failure must be one of ${POLICIES.join(", ")}`);
  return { pluginRegistrationPath, timeoutMs, onRegistrationFailure };
}

/** Throws INVALID_OPTION for milliseconds that no timer can wait. */
export function checkWait(flag: string, ms: number, hint = ""): void {
  if (!(ms >= 0)) refuse(`${flag} must not be negative`);
  if (ms > LONGEST_WAIT_MS) refuse(`${flag} must be 24 days at most${hint}`);
}

function refuse(text: string): never {
  throw new RegistrarError("INVALID_OPTION", text);
}
