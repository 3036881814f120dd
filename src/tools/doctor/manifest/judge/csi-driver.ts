import { nearWord } from "../../../../base/near-word";
import { isPattern } from "../../../../host-path/path-pattern";
import { APPLY_CSI_DRIVER, firstOf, isTemplate } from "../../findings/words";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { driverDirectoryIn, MAX_NAME_LENGTH } from "../read/pod";
import { eachDeployment, type Statement, unknown, warning } from "./each-deployment";

const manifestCsiDriver = eachDeployment("CSI111", "manifest-csi-driver", (one, facts) => {
  if (!one.hasDriver || isPattern(one.settings.kubeletRegistrationPath)) return undefined;
  return facts.csiDrivers.length === 0
    ? unknown("has no CSIDriver object beside it: it may be applied by itself")
    : judgeName(one, facts);
});

/** The driver's name is what its pod says, or the directory of its socket if a CSIDriver is called so. */
function judgeName(one: Deployment, { deployments, csiDrivers }: ManifestFacts): Statement | undefined {
  const [name] = one.pod.driverNames;
  const called = name ?? driverDirectoryIn(one.settings.kubeletRegistrationPath);
  const known = csiDrivers.filter(({ length }) => length <= MAX_NAME_LENGTH);
  if (called === undefined || csiDrivers.includes(called) || csiDrivers.some(isTemplate)) return undefined;
  const taken = deployments.flatMap(({ pod, settings }) => [
    ...pod.driverNames,
    driverDirectoryIn(settings.kubeletRegistrationPath),
  ]);
  const others = known.filter((csiDriver) => !taken.includes(csiDriver));
  const near = nearWord(called, others, 2);
  if (near === undefined && name === undefined && others.length > 0) return undefined;
  return warning(
    `has the driver ${called} without a CSIDriver object, and there is one for ${near ?? firstOf(known)}`,
    near === undefined ? APPLY_CSI_DRIVER : "use one name for both",
  );
}

export const csiDriverChecks = [manifestCsiDriver];
