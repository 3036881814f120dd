import { anyText, anyTree, list, type Tree, text, tree } from "../../../../kube-api/objects";
import { tellsPath } from "../../../recognise/program";
import { isTemplate } from "../../../recognise/rule";
import { refuseFlaw } from "../../findings/seen";

// Which objects have a pod, and where.

const SETS = ["DaemonSet", "Deployment", "StatefulSet"];
export const WITH_PODS = [...SETS, "ReplicaSet", "Job", "CronJob", "ReplicationController"];

/** What other kinds have in the place of a pod may be anything else. */
export function podIn({ kind, spec, template }: Tree): Tree {
  if (kind === "Pod") return tree(spec);
  if (kind === "PodTemplate") return tree(tree(template).spec);
  if (kind === "CronJob") return podIn({ kind: "Job", spec: tree(tree(spec).jobTemplate).spec });
  if (WITH_PODS.includes(text(kind)) || isTemplate(text(kind))) return podOfSet(tree(spec));
  const pod = anyTree(anyTree(anyTree(spec).template).spec);
  if (Array.isArray(pod.containers)) return pod;
  return hasRegistrarsArguments(spec) ? refuseFlaw("custom") : {};
}

/** Of a StatefulSet's claims, each is a volume. */
function podOfSet({ template, volumeClaimTemplates }: Tree): Tree {
  const pod = tree(tree(template).spec);
  const claims = list(volumeClaimTemplates).map((one) => tree(tree(one).metadata).name);
  const volumes = claims.map((name) => ({ name, persistentVolumeClaim: {} }));
  return claims.length === 0 ? pod : { ...pod, volumes: [...list(pod.volumes), ...volumes] };
}

/** Anywhere, also as one text. */
export function hasRegistrarsArguments(value: unknown): boolean {
  if (typeof value === "string") return tellsPath(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasRegistrarsArguments);
}

/** The API server requires a selector. */
export const isPatch = ({ kind, spec }: Tree): boolean =>
  SETS.includes(anyText(kind)) && tree(spec).selector === undefined;

export interface Item {
  readonly item: unknown;
  /** The names of its Template's parameters. */
  readonly parameters: readonly string[];
}

/** The items of a List, those of a DaemonSetList with its kind, and OpenShift's of a Template; any other object is its own only item. */
export function unfold(object: unknown, parameters: readonly string[] = []): readonly Item[] {
  const { kind: whole, apiVersion, items, ...more } = anyTree(object);
  if (whole === "Template" && more.objects !== undefined) {
    const own = list(more.parameters).map((one) => text(tree(one).name));
    return list(more.objects).flatMap((one) => unfold(one, own));
  }
  if (isTemplate(anyText(whole)) && items !== undefined) refuseFlaw("placeholder", anyText(whole));
  const [, kind] = /^(.*)List$/s.exec(anyText(whole)) ?? [];
  // A List of Kubernetes has a list of items; an IPAllowList may have anything.
  const isOther = kind !== "" && kind !== "Pod" && !WITH_PODS.includes(kind ?? "");
  if (kind === undefined || (isOther && !Array.isArray(items))) return [{ item: object, parameters }];
  return anyItems(items)
    .flatMap((one) => unfold(one, parameters))
    .map((one) => {
      const { item } = one;
      const object = anyTree(item);
      const isNamed = kind === "" || object.kind !== undefined || object !== item;
      return isNamed ? one : { ...one, item: { apiVersion, ...object, kind } };
    });
}

/** Each is judged by itself, also one that is null. */
const anyItems = (items: unknown): readonly unknown[] => (Array.isArray(items) ? items : list(items));
