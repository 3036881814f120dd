import { nearWord } from "../../../../base/near-word";
import { isPattern } from "../../../../host-path/path-pattern";
import { APPLY_CSI_DRIVER, firstOf, isTemplate } from "../../findings/words";
import type { Deployment, ManifestFacts } from "../read/deployments";
import { driverDirectoryIn, MAX_NAME_LENGTH } from "../read/pod";
import { eachDeploymentBeside, type Statement, unknown, warning } from "./each-deployment";

/** Comparisons of names in all. */
const MAX_COMPARISONS = 5_000;

type Names = ReturnType<typeof namesIn>;

function namesIn({ deployments, csiDrivers }: ManifestFacts) {
  const taken = new Set(
    deployments.flatMap(({ pod, settings }) => [
      ...pod.driverNames,
      driverDirectoryIn(settings.kubeletRegistrationPath),
    ]),
  );
  const known = csiDrivers.filter(({ length }) => length <= MAX_NAME_LENGTH);
  return {
    all: new Set(csiDrivers),
    hasTemplate: csiDrivers.some(isTemplate),
    known,
    /** Those that no registrar's driver has. */
    others: known.filter((csiDriver) => !taken.has(csiDriver)),
    mostCompared: Math.ceil(MAX_COMPARISONS / Math.max(1, deployments.length)),
  };
}

const manifestCsiDriver = eachDeploymentBeside("CSI111", "manifest-csi-driver", namesIn, (one, names) => {
  if (!one.hasDriver || isPattern(one.settings.kubeletRegistrationPath)) return undefined;
  return names.all.size === 0
    ? unknown("has no CSIDriver object beside it: perhaps that is applied separately")
    : judgeName(one, names);
});

/** The driver's name is what its pod says, or the directory of its socket if a CSIDriver is called so. */
function judgeName(one: Deployment, names: Names): Statement | undefined {
  const { all, hasTemplate, known, others, mostCompared } = names;
  const [name] = one.pod.driverNames;
  const called = name ?? driverDirectoryIn(one.settings.kubeletRegistrationPath);
  if (called === undefined || all.has(called) || hasTemplate) return undefined;
  const near = nearWord(called, others.slice(0, mostCompared), 2);
  if (near === undefined && name === undefined && others.length > 0) return undefined;
  return warning(
    `has the driver ${called} without a CSIDriver object, and there is one for ${near ?? firstOf(known)}`,
    near === undefined ? APPLY_CSI_DRIVER : "use one name for both",
  );
}

export const csiDriverChecks = [manifestCsiDriver];
