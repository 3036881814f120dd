import { status } from "@grpc/grpc-js";
import {
  kindOf,
  listOf,
  milliseconds,
  type OptionKind,
  oneOf,
  socketPath,
  text,
  textsByKey,
  wholeNumber,
} from "../options/option-kinds";
import { optional, readOptions, required, variant } from "../options/read-options";
import { type ResolvedStartOptions, START_OPTIONS, type StartOptions } from "../options/start-options";
import { WAIT_TIMEOUT_MS } from "./event-stream";

/** The calls that the simulated CSI driver answers. */
export type CsiMethod = (typeof METHODS)[number];

const METHODS = [
  "GetPluginInfo",
  "GetPluginCapabilities",
  "Probe",
  "NodeGetCapabilities",
  "NodeGetInfo",
] as const;

/** A gRPC status that is no success. */
type FailureCode = Exclude<keyof typeof status, "OK">;

/** Something that a simulated CSI driver does wrong on request. */
export type CsiDriverFault =
  /** Answers this much later. */
  | { readonly kind: "slow"; readonly method: CsiMethod; readonly delayMs: number; readonly times?: number }
  /** Answers with this status. */
  | {
      readonly kind: "error";
      readonly method: CsiMethod;
      readonly code: FailureCode;
      /** Default: a text that says that the error is simulated. */
      readonly message?: string;
      readonly times?: number;
    }
  /** Never answers; the call ends when its client gives up. */
  | { readonly kind: "hang"; readonly method: CsiMethod; readonly times?: number }
  /** Probe says that the driver is still starting. */
  | { readonly kind: "not-ready"; readonly times?: number };

/** How to simulate a CSI driver. */
export interface CsiDriverOptions extends StartOptions {
  /** Path of the unix socket to listen on. Its folder must exist; a socket left there is replaced. */
  readonly csiAddress: string;
  /** What GetPluginInfo answers; not checked, so that you can test invalid names. */
  readonly name: string;
  /** @default "0.0.0" */
  readonly vendorVersion?: string | undefined;
  /** What NodeGetInfo says; an empty one can be tried. @default "node-1" */
  readonly nodeId?: string | undefined;
  /** Topology segments. @default none */
  readonly topology?: Readonly<Record<string, string>> | undefined;
  /** Volumes that fit on this node; 0 is no limit. @default 0 */
  readonly maxVolumes?: number | undefined;
  /** Milliseconds until it listens. @default 0 */
  readonly listenAfterMs?: number | undefined;
  /** What goes wrong on request. @default nothing */
  readonly faults?: readonly CsiDriverFault[] | undefined;
  /** The limit of a wait that is given no `timeoutMs` of its own, in milliseconds. @default 4500 */
  readonly waitTimeoutMs?: number | undefined;
}

/** Options with every default filled in. */
export interface ResolvedCsiDriverOptions {
  readonly csiAddress: string;
  readonly name: string;
  readonly vendorVersion: string;
  readonly nodeId: string;
  readonly topology: Readonly<Record<string, string>>;
  readonly maxVolumes: number;
  readonly listenAfterMs: number;
  readonly faults: readonly CsiDriverFault[];
  readonly waitTimeoutMs: number;
}

const method = required(oneOf(METHODS));
const times = optional(wholeNumber(0, Number.MAX_SAFE_INTEGER));

const failureCode = kindOf('the name of a gRPC status, such as "UNAVAILABLE"', (given) =>
  typeof given === "string" && given !== "OK" && Number.isNaN(Number(given)) && given in status
    ? (given as FailureCode)
    : undefined,
);

/** The faults of a driver, checked. */
export const CSI_DRIVER_FAULTS: OptionKind<readonly CsiDriverFault[]> = listOf(
  variant<CsiDriverFault>({
    slow: { method, delayMs: required(milliseconds({ orZero: true })), times },
    error: { method, code: required(failureCode), message: optional(text), times },
    hang: { method, times },
    "not-ready": { times },
  }),
);

/** Fills defaults and rejects what cannot work; throws INVALID_OPTION. */
export function resolveCsiDriverOptions(
  options: CsiDriverOptions,
): ResolvedCsiDriverOptions & ResolvedStartOptions {
  return readOptions("startCsiDriver", options, {
    csiAddress: required(socketPath),
    name: required(text),
    vendorVersion: optional(text, "0.0.0"),
    nodeId: optional(text, "node-1"),
    topology: optional(textsByKey, {}),
    maxVolumes: optional(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), 0),
    listenAfterMs: optional(milliseconds({ orZero: true }), 0),
    faults: optional(CSI_DRIVER_FAULTS, []),
    waitTimeoutMs: optional(milliseconds(), WAIT_TIMEOUT_MS),
    ...START_OPTIONS,
  });
}
