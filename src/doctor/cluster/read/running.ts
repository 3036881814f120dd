import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { type Deployment, deploymentsIn } from "../../manifest/read/deployments";
import type { OurImage } from "../../manifest/read/program";
import type { RegistrarSet } from "./set";

/** The registrars of a running pod, as admission left them. */
export interface Running {
  readonly registrars: readonly Deployment[];
  /** The containers with a registrar that the DaemonSet has, and the pod made from it has not. */
  readonly dropped: readonly string[];
}

export type ReadRunning = (pod: Tree, set: RegistrarSet) => Running;

const GENERATION = "pod-template-generation";

/** Pods of one template that admission changed in the same way share one result, which keeps 25,000 pods small. */
export function createRunningReader(ours?: OurImage): ReadRunning {
  const known = new Map<string, Running>();
  return (pod, set) => {
    const { nodeName, affinity, ...spec } = tree(pod.spec);
    const { labels, namespace } = tree(pod.metadata);
    const generation = tree(labels)[GENERATION];
    const key = JSON.stringify([set.uid, generation, spec]).replace(/kube-api-access-\w+/g, "");
    const found = known.get(key);
    if (found !== undefined) return found;
    const object = { kind: "Pod", metadata: { namespace }, spec };
    const running = {
      registrars: deploymentsIn(set.object, object, ours).map((one) => ({
        ...one,
        // The API server has mounted a token, or not: the mounts tell.
        pod: { ...one.pod, isTokenMounted: false },
      })),
      dropped: droppedFrom(spec, set, generation),
    };
    known.set(key, running);
    return running;
  };
}

/** A pod of an older template may never have had the container. */
function droppedFrom(spec: Tree, set: RegistrarSet, generation: unknown): readonly string[] {
  if (generation !== undefined && set.generation !== undefined && generation !== set.generation) return [];
  const names = [...list(spec.containers), ...list(spec.initContainers)].map((one) => text(tree(one).name));
  return set.registrars.map(({ container }) => container).filter((name) => !names.includes(name));
}
