import { status } from "@grpc/grpc-js";
import {
  listOf,
  milliseconds,
  type OptionKind,
  oneOf,
  socketPathKind,
  textKind,
  valuesByKey,
  wholeNumber,
} from "../../options/option-kinds";
import { type OptionTable, optional, readOptions, required, variant } from "../../options/read-options";
import type { Resolved } from "../../options/start-options";
import { type FaultTimes, faultTimes, type SimulatorOptions, simulatorOptions } from "../simulator-options";

/** The methods that a simulated CSI driver answers. */
export type CsiMethod = (typeof CSI_METHODS)[number];

export const CSI_METHODS = ["GetPluginInfo", "Probe", "NodeGetInfo"] as const;

type FailureCode = Exclude<keyof typeof status, "OK">;

/** Something that a simulated CSI driver does wrong on request. */
export type CsiDriverFault =
  | ({
      /** Answers late. */
      readonly kind: "slow";
      readonly method: CsiMethod;
      /** Milliseconds before the answer. */
      readonly delayMs: number;
    } & FaultTimes)
  /** Fails with this gRPC status. */
  | ({
      readonly kind: "error";
      readonly method: CsiMethod;
      readonly code: FailureCode;
      /** @default a text that says that the error is simulated */
      readonly message?: string | undefined;
    } & FaultTimes)
  /** Never answers; the call ends when its client gives up. */
  | ({ readonly kind: "hang"; readonly method: CsiMethod } & FaultTimes)
  /** Probe says that the driver is still starting. */
  | ({ readonly kind: "not-ready" } & FaultTimes);

/** What a simulated CSI driver answers, and can answer otherwise while it runs. */
export interface CsiDriverAnswers {
  /** @default "1.0.0" */
  readonly vendorVersion?: string | undefined;
  /** What NodeGetInfo says; an empty one can be tried. @default "node-1" */
  readonly nodeId?: string | undefined;
  /** Topology segments. @default none */
  readonly topology?: Readonly<Record<string, string>> | undefined;
  /** Volumes that fit on this node; 0 is no limit, nor a negative number, which CSI forbids and you can try. @default 0 */
  readonly maxVolumes?: number | undefined;
}

/** The options of `startCsiDriver`. */
export interface CsiDriverOptions extends CsiDriverAnswers, SimulatorOptions<CsiDriverFault> {
  /**
   * Where to listen: `/csi/csi.sock` or `unix:///csi/csi.sock`. Its directory must exist; a socket left there is replaced.
   */
  readonly csiAddress: string;
  /** What GetPluginInfo answers; not checked, so that you can test invalid names. */
  readonly name: string;
  /** Milliseconds until it listens. @default 0 */
  readonly listenAfterMs?: number | undefined;
}

const method = required(oneOf(CSI_METHODS));

export const FAILURE_CODES = Object.keys(status).filter(
  (name): name is FailureCode => /^[A-Z]/.test(name) && name !== "OK",
);

export const CSI_DRIVER_FAULTS: OptionKind<readonly CsiDriverFault[]> = listOf(
  variant<CsiDriverFault>({
    slow: { method, delayMs: required(milliseconds({ orZero: true })), times: faultTimes },
    error: { method, code: required(oneOf(FAILURE_CODES)), message: optional(textKind), times: faultTimes },
    hang: { method, times: faultTimes },
    "not-ready": { times: faultTimes },
  }),
);

export type ResolvedCsiDriverAnswers = Pick<Resolved<CsiDriverOptions>, keyof CsiDriverAnswers>;

export const DEFAULT_ANSWERS: ResolvedCsiDriverAnswers = {
  vendorVersion: "1.0.0",
  nodeId: "node-1",
  topology: {},
  maxVolumes: 0,
};

/** Reads answers; those that are not given stay as in `otherwise`. */
export const answersOr = (otherwise: ResolvedCsiDriverAnswers): OptionTable<ResolvedCsiDriverAnswers> => ({
  vendorVersion: optional(textKind, otherwise.vendorVersion),
  nodeId: optional(textKind, otherwise.nodeId),
  topology: optional(valuesByKey(textKind), otherwise.topology),
  maxVolumes: optional(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), otherwise.maxVolumes),
});

export function resolveCsiDriverOptions(options: CsiDriverOptions) {
  return readOptions("startCsiDriver", options, {
    csiAddress: required(socketPathKind),
    name: required(textKind),
    ...answersOr(DEFAULT_ANSWERS),
    listenAfterMs: optional(milliseconds({ orZero: true }), 0),
    ...simulatorOptions(CSI_DRIVER_FAULTS),
  });
}
