import type { ManifestFacts } from "../deployment";
import type { Check } from "../finding";
import { manifestArguments } from "./arguments";
import { manifestCsiDriver } from "./csi-driver-kind";
import { manifestDriverPath } from "./driver-path";
import { manifestDuplicates } from "./duplicates";
import { manifestMemory } from "./memory";
import { manifestOperatingSystem } from "./operating-system";
import { manifestPorts } from "./ports";
import { manifestPreStop } from "./pre-stop";
import { manifestProbes } from "./probes";
import { manifestReadable } from "./readable";
import { manifestRegistrationDirectory } from "./registration-directory";
import { manifestSurge } from "./surge";
import { manifestUser } from "./user";

/** Every question to what is to be applied, asked before it is. */
export const MANIFEST_CHECKS: readonly Check<ManifestFacts>[] = [
  manifestArguments,
  manifestDriverPath,
  manifestRegistrationDirectory,
  manifestProbes,
  manifestMemory,
  manifestPreStop,
  manifestSurge,
  manifestUser,
  manifestPorts,
  manifestDuplicates,
  manifestCsiDriver,
  manifestOperatingSystem,
  manifestReadable,
];
