import { nearWord } from "../../../base/near-word";
import { isPattern } from "../../../host-path/path-pattern";
import { check, problem, warning as warningOf } from "../../findings/finding";
import { APPLY_CSI_DRIVER, isTemplate } from "../../rules/words";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { driverFolderIn, MAX_NAME_LENGTH } from "../read/driver-name";
import { refusedFieldsOf } from "./csi-driver-rules";
import { eachDeployment, type Statement, unknown, warning } from "./each-deployment";

export const manifestCsiDriver = eachDeployment("CSI111", "manifest-csi-driver", (one, facts) => {
  if (!one.hasDriver || isPattern(one.settings.kubeletRegistrationPath)) return undefined;
  return facts.csiDrivers.length === 0
    ? unknown("has no CSIDriver object beside it: it may be applied by itself", APPLY_CSI_DRIVER)
    : judge(one, facts);
});

/** Fields that the API server refuses, or that contradict each other. No cluster has an invalid object, but a file may. */
export const manifestCsiDriverFields = check<ManifestFacts>(
  "CSI118",
  "manifest-csi-driver-fields",
  ({ csiDriverSpecs }) =>
    csiDriverSpecs.flatMap(({ place, source, keepsPodsOff, hasClaims, placesTokens, requestsTokens }) => [
      refusedFieldsOf(source).map(({ text, fix }) => problem(place, text, fix)),
      placesTokens && !requestsTokens
        ? problem(
            place,
            "has serviceAccountTokenInSecrets without tokenRequests: the API server refuses it",
            "add tokenRequests, or leave the field out",
          )
        : undefined,
      keepsPodsOff && !hasClaims
        ? warningOf(
            place,
            "has preventPodSchedulingIfMissing, and inline volumes only: the scheduler looks at volumes with a claim",
            "keep pods off new nodes by a startup taint: --remove-startup-taint",
          )
        : undefined,
    ]),
);

/** The number of CSIDrivers that are named. */
const NAMED = 3;

/** The driver's name is what its pod says, or the folder of its socket if a CSIDriver is called so. */
function judge(one: Deployment, { deployments, csiDrivers }: ManifestFacts): Statement | undefined {
  const [name] = one.pod.driverNames;
  const called = name ?? driverFolderIn(one.settings.kubeletRegistrationPath);
  const known = csiDrivers.filter(({ length }) => length <= MAX_NAME_LENGTH);
  if (called === undefined || csiDrivers.includes(called) || csiDrivers.some(isTemplate)) return undefined;
  const names = deployments.flatMap(({ pod }) => pod.driverNames);
  const folders = deployments.flatMap(
    ({ settings }) => driverFolderIn(settings.kubeletRegistrationPath) ?? [],
  );
  const others = known.filter((csiDriver) => ![...names, ...folders].includes(csiDriver));
  const near = nearWord(called, others, 2);
  if (near !== undefined)
    return warning(`has the driver ${called}, and the CSIDriver is called ${near}`, "use one name for both");
  if (name !== undefined || others.length === 0)
    return warning(
      `has the driver ${called} without a CSIDriver object, and there is one for ${known.slice(0, NAMED).join(", ")}`,
      APPLY_CSI_DRIVER,
    );
  return undefined;
}
