import { isSubdomain } from "../../kubelet-rules/api-validation";
import { type KubeletVersion, NEWEST_SIMULATED, simulatedVersion } from "../../kubelet-rules/versions";
import {
  directoryPath,
  kindOf,
  listOf,
  milliseconds,
  type OptionKind,
  oneOf,
  textKind,
  valuesByKey,
} from "../../options/option-kinds";
import { optional, optionsOf, readOptions, required, variant } from "../../options/read-options";
import { type FaultTimes, faultTimes, type SimulatorOptions, simulatorOptions } from "../simulator-options";

/** Something that a simulated kubelet does wrong, or against the plugin, on request. */
export type KubeletFault =
  | ({
      /** Refuses as kubelet does when the API server is away or a check fails: with its words for the stage, then this text. */
      readonly kind: "refuse";
      readonly error: string;
      /** Where it fails. Kubelets up to 1.35 never retry after `registration` (the default), but do after `validation`. */
      readonly stage?: "validation" | "registration" | undefined;
      /** Only this driver. @default any */
      readonly driverName?: string | undefined;
    } & FaultTimes)
  /** Calls late. */
  | ({
      readonly kind: "slow";
      /** The call that it delays. */
      readonly before: "GetInfo" | "NodeGetInfo" | "NotifyRegistrationStatus";
      /** Milliseconds before the call. */
      readonly delayMs: number;
    } & FaultTimes)
  /** The connection breaks before the status report: the driver is in use, but its registrar does not know. */
  | ({
      readonly kind: "drop-before-status";
      /** Only this driver. @default any */
      readonly driverName?: string | undefined;
    } & FaultTimes)
  /** Sees sockets but never calls: a kubelet that watches another directory. */
  | { readonly kind: "never-call" };

/** The options of `startKubelet`. */
export interface KubeletOptions extends SimulatorOptions<KubeletFault> {
  /** The plugin registration directory to watch; created if it is missing. */
  readonly pluginRegistrationPath: string;
  /** The Node's name, which the API server accepts. @default "node-1" */
  readonly nodeName?: string | undefined;
  /** Labels that the Node has from the start. @default its host name */
  readonly nodeLabels?: Readonly<Record<string, string>> | undefined;
  /**
   * Which kubelet to be: any from 1.13 on. The simulator plays the one of `SIMULATED_VERSIONS` that behaves like it, and
   * logs which one that is. A text from elsewhere, such as an environment variable, is checked when it starts: write
   * `text as KubeletVersion`. @default "1.37"
   */
  readonly version?: KubeletVersion | undefined;
  /** Milliseconds between two rounds of kubelet's loop: `loopSleepDuration` in `plugin_manager.go`. @default 1000 */
  readonly reconcilePeriodMs?: number | undefined;
  /** Other times that kubelet keeps, where a test cannot wait as long. @default kubelet's */
  readonly timings?: KubeletTimings | undefined;
}

/** Kubelet's times besides its loop's, in milliseconds. */
export interface KubeletTimings {
  /** `dialTimeoutDuration` in `operation_generator.go`. @default 10000 */
  readonly dialMs?: number | undefined;
  /** How long a driver may take to speak HTTP/2: `minConnectTimeout` in grpc-go's `dialoptions.go`. @default 20000 */
  readonly connectMs?: number | undefined;
  /** A second, in `operation_generator.go`. @default 1000 */
  readonly getInfoMs?: number | undefined;
  /** `notifyTimeoutDuration` in `operation_generator.go`. @default 5000 */
  readonly notifyMs?: number | undefined;
  /** `csiTimeout` in `csi_plugin.go`. @default 120000 */
  readonly nodeGetInfoMs?: number | undefined;
  /** After the first failure: `initialDurationBeforeRetry` in `exponential_backoff.go`. @default 500 */
  readonly backoffInitialMs?: number | undefined;
  /** At most: `maxDurationBeforeRetry` there. @default 122000 */
  readonly backoffMaxMs?: number | undefined;
}

export type ResolvedKubeletOptions = ReturnType<typeof resolveKubeletOptions>;

export const kubeletVersion = kindOf('a kubelet\'s version from 1.13 on, such as "1.30"', (given) =>
  typeof given === "string" && simulatedVersion(given) !== undefined ? (given as KubeletVersion) : undefined,
);

const nodeName = kindOf(
  "the name of a Node: lower-case letters, digits, '-' and '.', 253 at most",
  (given) => (typeof given === "string" && isSubdomain(given) ? given : undefined),
);

const timing = (byDefault: number) => optional(milliseconds(), byDefault);

const timings = optionsOf<{ readonly [Name in keyof KubeletTimings]-?: number }>({
  dialMs: timing(10_000),
  connectMs: timing(20_000),
  getInfoMs: timing(1000),
  notifyMs: timing(5000),
  nodeGetInfoMs: timing(120_000),
  backoffInitialMs: timing(500),
  backoffMaxMs: timing(122_000),
});

export const KUBELET_FAULTS: OptionKind<readonly KubeletFault[]> = listOf(
  variant<KubeletFault>({
    refuse: {
      error: required(textKind),
      stage: optional(oneOf(["validation", "registration"])),
      driverName: optional(textKind),
      times: faultTimes,
    },
    slow: {
      before: required(oneOf(["GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"])),
      delayMs: required(milliseconds({ orZero: true })),
      times: faultTimes,
    },
    "drop-before-status": { driverName: optional(textKind), times: faultTimes },
    "never-call": {},
  }),
);

export function resolveKubeletOptions(options: KubeletOptions) {
  const given = readOptions("startKubelet", options, {
    pluginRegistrationPath: required(directoryPath),
    nodeName: optional(nodeName, "node-1"),
    nodeLabels: optional(valuesByKey(textKind)),
    version: optional(kubeletVersion, NEWEST_SIMULATED),
    reconcilePeriodMs: timing(1000),
    timings: (given = {}, name) => timings.read(given, name),
    ...simulatorOptions(KUBELET_FAULTS),
  });
  return {
    ...given,
    nodeLabels: given.nodeLabels ?? { "kubernetes.io/hostname": given.nodeName },
    /** What is simulated for `version`. */
    simulated: simulatedVersion(given.version) ?? NEWEST_SIMULATED,
  };
}
