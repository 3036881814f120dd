import { RegistrarError } from "../errors";
import { parseCsiAddress } from "./csi-address";

/** What to do when kubelet refuses the driver. */
export type RegistrationFailurePolicy = "exit" | "retry";

const POLICIES: readonly RegistrationFailurePolicy[] = ["exit", "retry"];
/** A Node timer with a longer wait fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a registrar is told. Times are milliseconds. */
export interface RegistrarOptions {
  /** The CSI driver socket as this process sees it: `/csi/csi.sock` or `unix:///csi/csi.sock`. */
  readonly csiAddress: string;
  /** The same socket as kubelet sees it on the host; kubelet is given it as the driver's endpoint. */
  readonly kubeletRegistrationPath: string;
  /** The plugin registration directory, where the registration socket goes. @default "/registration" */
  readonly pluginRegistrationPath?: string;
  /** Bounds each single call to the driver and each health check of our own socket. @default 1000 */
  readonly timeoutMs?: number;
  /** Fail when the driver has not told its name by then, 24 days at most; 0 waits without end. @default 0 */
  readonly driverTimeoutMs?: number;
  /** On refusal, fail (`exit`) or stay and publish again with backoff (`retry`). @default "exit" */
  readonly onRegistrationFailure?: RegistrationFailurePolicy;
  /** Register again when the driver came back, so that kubelet reads its node information anew. @default false */
  readonly reregisterOnDriverRestart?: boolean;
}

/** Options with every default filled in and every value checked. */
export interface ResolvedRegistrarOptions extends Required<RegistrarOptions> {
  /** The path in `csiAddress`. */
  readonly csiSocketPath: string;
}

/** Fills defaults and checks ranges; no other place knows either. Throws INVALID_OPTION. */
export function resolveOptions(options: RegistrarOptions): ResolvedRegistrarOptions {
  const resolved = {
    csiAddress: options.csiAddress,
    csiSocketPath: parseCsiAddress(options.csiAddress),
    kubeletRegistrationPath: options.kubeletRegistrationPath,
    pluginRegistrationPath: options.pluginRegistrationPath ?? "/registration",
    timeoutMs: options.timeoutMs ?? 1_000,
    driverTimeoutMs: options.driverTimeoutMs ?? 0,
    onRegistrationFailure: options.onRegistrationFailure ?? "exit",
    reregisterOnDriverRestart: options.reregisterOnDriverRestart ?? false,
  };
  const refuse = (text: string) => {
    throw new RegistrarError("INVALID_OPTION", text);
  };
  if (resolved.kubeletRegistrationPath === "") refuse("kubelet-registration-path is a required parameter");
  if (resolved.pluginRegistrationPath === "") refuse("plugin-registration-path must not be empty");
  if (!(resolved.timeoutMs > 0))
    refuse("timeout must be more than 0: no call to the driver could ever succeed");
  if (!(resolved.driverTimeoutMs >= 0)) refuse("driver-timeout must not be negative");
  if (resolved.driverTimeoutMs > MAX_TIMER_MS)
    refuse("driver-timeout must be 24 days at most; 0 is no limit");
  if (!POLICIES.includes(resolved.onRegistrationFailure))
    refuse(`on-registration-failure must be one of ${POLICIES.join(", ")}`);
  return resolved;
}
