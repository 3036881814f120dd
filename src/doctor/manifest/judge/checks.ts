import type { Check } from "../../findings/finding";
import type { ManifestFacts } from "../read/deployments";
import { manifestAccess } from "./access";
import { manifestArguments } from "./arguments";
import { manifestCpu } from "./cpu";
import { manifestCsiDriver, manifestCsiDriverFields } from "./csi-driver";
import { manifestDriverPath } from "./driver-path";
import { manifestDriverSocket } from "./driver-socket";
import { manifestMemory } from "./memory";
import { manifestDuplicates, manifestPorts } from "./pairs";
import { manifestProbes } from "./probes";
import { manifestPrograms } from "./programs";
import { manifestRegistrationDirectory } from "./registration-directory";
import {
  manifestOperatingSystem,
  manifestPreStop,
  manifestReadable,
  manifestSurge,
  manifestUser,
} from "./settings";

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
  manifestCpu,
  manifestDriverSocket,
  manifestAccess,
  manifestPrograms,
  manifestCsiDriverFields,
];
