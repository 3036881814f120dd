import { list, numberOrNone, tree } from "../../../kube-api/objects";
import type { FoundObject } from "../../findings/finding";
import { foundIn, nameOf, placeText } from "./objects";

/** What is judged of a CSIDriver's spec. */
export type CsiDriverFacts = ReturnType<typeof readCsiDriver>;

export function readCsiDriver(
  object: unknown,
  owner: FoundObject = { ...foundIn(null, object), kind: "CSIDriver" },
) {
  const spec = tree(tree(object).spec);
  const { serviceAccountTokenInSecrets } = spec;
  const modes = list(spec.volumeLifecycleModes);
  return {
    name: nameOf(object),
    place: placeText(owner),
    object: owner,
    /** Seconds after which kubelet asks for the volume limit again; undefined: never. */
    limitPeriodS: numberOrNone(spec.nodeAllocatableUpdatePeriodSeconds),
    /** The scheduler keeps pods with claims off nodes where CSINode lacks the driver. */
    keepsPodsOff: spec.preventPodSchedulingIfMissing === true,
    /** An empty list is Persistent by default. */
    hasClaims: modes.length === 0 || modes.some((mode) => mode !== "Ephemeral"),
    /** The field is set, to true or false. */
    placesTokens: serviceAccountTokenInSecrets !== undefined && serviceAccountTokenInSecrets !== null,
    requestsTokens: list(spec.tokenRequests).length > 0,
    /** Its fields may be anything. */
    source: tree(object),
  };
}
