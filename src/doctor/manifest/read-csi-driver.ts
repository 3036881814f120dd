import { list, numberOrNone, tree } from "../../kube-api/objects";
import { refusedFieldsOf } from "./csi-driver-rules";
import { nameOf } from "./deployment";

/** What is judged of a CSIDriver's spec. */
export type CsiDriverFacts = ReturnType<typeof readCsiDriver>;

/** `owner`: what findings call the object. */
export function readCsiDriver(object: unknown, owner = `CSIDriver ${nameOf(object)}`) {
  const spec = tree(tree(object).spec);
  const { serviceAccountTokenInSecrets } = spec;
  const modes = list(spec.volumeLifecycleModes);
  return {
    name: nameOf(object),
    place: owner,
    /** Seconds after which kubelet asks for the volume limit again; undefined: never. */
    limitPeriodS: numberOrNone(spec.nodeAllocatableUpdatePeriodSeconds),
    /** The scheduler keeps pods with claims off nodes where CSINode lacks the driver. */
    keepsPodsOff: spec.preventPodSchedulingIfMissing === true,
    /** An empty list is Persistent by default. */
    hasClaims: modes.length === 0 || modes.some((mode) => mode !== "Ephemeral"),
    /** The field is set, to true or false. */
    placesTokens: serviceAccountTokenInSecrets !== undefined && serviceAccountTokenInSecrets !== null,
    requestsTokens: list(spec.tokenRequests).length > 0,
    refused: refusedFieldsOf(tree(object)),
  };
}
