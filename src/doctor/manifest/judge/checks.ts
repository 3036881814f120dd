import { type Check, check, unread } from "../../findings/finding";
import type { ManifestFacts } from "../read/deployments";
import { manifestArguments } from "./arguments";
import { manifestCsiDriver, manifestCsiDriverFields } from "./csi-driver";
import { manifestCpu, manifestMemory } from "./limits";
import { manifestDuplicates, manifestPorts } from "./pairs";
import { manifestDriverPath, manifestDriverSocket, manifestRegistrationDirectory } from "./paths";
import { manifestAccess, manifestOperatingSystem, manifestSurge, manifestUser } from "./pod";
import { manifestProbes } from "./probes";
import { manifestPreStop, manifestPrograms } from "./programs";

export const manifestReadable = check<ManifestFacts>("CSI113", "manifest-readable", (facts) =>
  facts.unread.map(({ place, object, why, advice = "correct it, or leave it out" }) => ({
    ...unread(place, `cannot be judged: ${why}`, advice),
    objects: object && [object],
  })),
);

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
