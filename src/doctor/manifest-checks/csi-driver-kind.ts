import { isPattern } from "../../registrar/node-wide/path-pattern";
import type { ManifestFacts } from "../deployment";
import { type Check, unknown } from "../finding";

export const manifestCsiDriver: Check<ManifestFacts> = {
  code: "CSI111",
  name: "manifest-csi-driver",
  verdicts: ({ deployments, csiDrivers }) =>
    csiDrivers.length > 0
      ? []
      : deployments
          .filter(({ hasDriver, settings }) => hasDriver && !isPattern(settings.kubeletRegistrationPath))
          .map(({ place }) =>
            unknown(
              place,
              "has no CSIDriver object beside it: it may be applied by itself",
              "apply one with the driver's name",
            ),
          ),
};
