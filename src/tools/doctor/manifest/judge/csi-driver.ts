import { nearWord } from "../../../../base/near-word";
import { isPattern } from "../../../../host-path/path-pattern";
import { type Tree, text, tree } from "../../../../kube-api/objects";
import { isSubdomain, MIN_LIMIT_PERIOD_S } from "../../../../kubelet-rules/api-validation";
import { boundText } from "../../../../logging/escape";
import { FS_GROUP_POLICIES, LIFECYCLE_MODES } from "../../../manifest/options";
import { check, problem, warning as warningOf } from "../../findings/finding";
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

/** Fields that the API server refuses, or that contradict each other. No cluster has an invalid object, but a file may. */
const manifestCsiDriverFields = check<ManifestFacts>(
  "CSI118",
  "manifest-csi-driver-fields",
  ({ csiDriverSpecs }) =>
    csiDriverSpecs.flatMap(({ place, source, keepsPodsOff, hasClaims, placesTokens, requestsTokens }) => [
      ...invalidFieldsOf(source).map(({ text, fix }) => problem(place, text, fix)),
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
            "has preventPodSchedulingIfMissing, which does nothing for inline volumes, and has no others",
            "keep pods off new nodes by a startup taint: --remove-startup-taint",
          )
        : undefined,
    ]),
);

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

interface Rule {
  readonly accepts: (value: unknown) => boolean;
  readonly fix: string;
}

const MODES: readonly unknown[] = LIFECYCLE_MODES;
const POLICIES: readonly unknown[] = FS_GROUP_POLICIES;
const SWITCH: Rule = {
  accepts: (value) => typeof value === "boolean",
  fix: "write true or false, without quotes",
};

/** Source: `CSIDriverSpec` (`k8s.io/api/storage/v1`), `validateCSIDriverSpec` (`pkg/apis/storage/validation/validation.go`). */
const RULES: Readonly<Record<string, Rule>> = {
  // The API server takes longer names, but no driver has one (CSI specification).
  name: {
    accepts: (value) => typeof value === "string" && value.length <= MAX_NAME_LENGTH && isSubdomain(value),
    fix: `write the driver's name: a DNS name in lower case of at most ${MAX_NAME_LENGTH} characters`,
  },
  nodeAllocatableUpdatePeriodSeconds: {
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= MIN_LIMIT_PERIOD_S,
    fix: `write a whole number from ${MIN_LIMIT_PERIOD_S} on, without quotes: 60, for example`,
  },
  preventPodSchedulingIfMissing: SWITCH,
  serviceAccountTokenInSecrets: SWITCH,
  fsGroupPolicy: { accepts: (value) => POLICIES.includes(value), fix: `write one of ${POLICIES.join(", ")}` },
  volumeLifecycleModes: {
    accepts: (value) => Array.isArray(value) && value.every((mode) => MODES.includes(mode)),
    fix: `write a list of ${MODES.join(" and ")}`,
  },
  tokenRequests: {
    accepts: areTokenRequests,
    fix: 'write a list such as [{audience: "vault"}], each audience once',
  },
};

/** Null is an empty object to the API server, and an audience that is not given is the empty one. */
function areTokenRequests(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const audiences = value.map((one) => tree(one).audience ?? "");
  return (
    value.every((one) => typeof one === "object" && !Array.isArray(one)) &&
    audiences.every((audience) => typeof audience === "string") &&
    new Set(audiences).size === audiences.length
  );
}

/** Those of a CSIDriver of `storage.k8s.io/v1`: no server has other versions any more. Objects in a list have no version. */
function invalidFieldsOf({ apiVersion = "storage.k8s.io/v1", metadata, spec }: Tree) {
  if (apiVersion !== "storage.k8s.io/v1") return [];
  const fields: Tree = { ...tree(spec), name: tree(metadata).name ?? "" };
  return Object.entries(RULES).flatMap(([field, { accepts, fix }]) => {
    const value = fields[field];
    if (value === undefined || value === null || isTemplate(text(value)) || accepts(value)) return [];
    return { text: `has ${field} ${boundText(JSON.stringify(value), 200)}, which is invalid`, fix };
  });
}

export const csiDriverChecks = [manifestCsiDriver, manifestCsiDriverFields];
