import { isPattern } from "../../registrar/model/path-pattern";
import type { ManifestFacts } from "../deployment";
import { type Check, unknown } from "../finding";

export const manifestCsiDriver: Check<ManifestFacts> = {
  code: "CSI111",
  name: "manifest-csi-driver",
  asks: "Whether there is a CSIDriver object beside a driver's DaemonSet.",
  matters:
    "Without one Kubernetes takes defaults: volumes are attached first, and the driver is told nothing of the pod.",
  fix: "Apply a CSIDriver with the driver's name. `registrar manifest --include csidriver` writes one.",
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
