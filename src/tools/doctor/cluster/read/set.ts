import { list, needed, numberOrNone, type Tree, text, textOrNone, tree } from "../../../../kube-api/objects";
import type { OurImage } from "../../../recognise/program";
import { containersIn } from "../../files/read/pod";
import { placeIn, registrarsIn } from "../../files/read/registrars";
import { itemsOf, tell } from "../../findings/opened";
import {
  beyond,
  listFrom,
  looked,
  type SeenList,
  type Truth,
  toldOf,
  truth,
  unsoughtIf,
} from "../../findings/seen";
import { notWritten } from "./fields";
import type { Identity } from "./reader";

export type RegistrarSet = NonNullable<ReturnType<typeof readRegistrarSet>>;

/** Undefined for a set without a registrar. Throws INVALID_OPTION for one that cannot be judged. */
export function readRegistrarSet(object: unknown, identity: Identity, ours?: OurImage) {
  const { selector, template } = tree(tree(object).spec);
  const ofPods = tree(tree(template).spec);
  const whole = { ...tree(object), kind: "DaemonSet" };
  const place = placeIn(undefined, whole);
  const registrars = registrarsIn(identity.uid, place, whole, ours);
  if (registrars.length === 0) return undefined;
  const { metadata, status } = tree(object);
  const { desiredNumberScheduled, observedGeneration } = tree(status);
  const counts = {
    desired: needed("status.desiredNumberScheduled", numberOrNone(desiredNumberScheduled)),
    current: currentIn(object),
  };
  const observed = numberOrNone(observedGeneration) ?? 0;
  const isBehind = observed < (numberOrNone(tree(metadata).generation) ?? 0);
  return {
    ...identity,
    place: toldOf(place),
    selector: selectorOf(selector),
    registrars,
    registrarsWith: (images: OurImage) => registrarsIn(identity.uid, place, whole, images),
    /** How its pods name the template that they are made from. */
    generation: toldOf(
      textOrNone(tree(tree(metadata).annotations)["deprecated.daemonset.template.generation"]),
    ),
    /** The numbers of pods that it wants, and has. */
    counts: looked(isBehind ? notWritten("daemonsets", identity.name, OLD_STATUS) : undefined, counts),
    /** The latter as it is written, for readers. */
    written: toldOf(counts.current),
    /** Its controller has never counted the nodes for it. */
    isUncounted: isBehind && observed === 0,
    tolerations: list(ofPods.tolerations).map((one) => {
      const { key, operator, value, effect } = tree(one);
      return { key: text(key), operator: text(operator), value: text(value), effect: text(effect) };
    }),
    /** One of them may be the driver's name. */
    words: toldOf(wordsIn(ofPods.containers)),
  };
}

const OLD_STATUS = "its status is not that of its latest change";

export const currentIn = (set: unknown): number =>
  needed("status.currentNumberScheduled", numberOrNone(tree(tree(set).status).currentNumberScheduled));

function selectorOf(selector: unknown): string {
  const { matchLabels, matchExpressions } = tree(selector);
  const equal = Object.entries(tree(matchLabels)).map(([key, value]) => `${key}=${text(value)}`);
  const others = list(matchExpressions).map((expression) => {
    const { key, operator, values } = tree(expression);
    if (["In", "NotIn"].includes(text(operator)))
      return `${text(key)} ${text(operator).toLowerCase()} (${list(values).map(text).join(",")})`;
    return `${operator === "DoesNotExist" ? "!" : ""}${text(key)}`;
  });
  return [...equal, ...others].join(",");
}

/** Arguments, and values behind `=` in them; values of the environment, of which some may be in other objects. */
function wordsIn(ofPod: unknown) {
  const containers = list(ofPod).map(tree);
  const variables = containers.flatMap(({ env }) => list(env).map(tree));
  const words = containers.flatMap(({ command, args }) => [...list(command), ...list(args)].map(text));
  return {
    known: new Set([
      ...words.flatMap((word) => [word, ...word.split("=").slice(1)]),
      ...variables.map(({ value }) => text(value)),
    ]),
    isWhole:
      containers.every(({ envFrom }) => list(envFrom).length === 0) &&
      variables.every(({ valueFrom }) => valueFrom === undefined),
  };
}
/** Whether a container of its pods has this word. */
export function hasWord({ words, name }: Pick<RegistrarSet, "words" | "name">, word: string): Truth {
  const { known, isWhole } = tell(words);
  return truth(known.has(word) || (!isWhole && beyond("daemonsets", name)));
}

const GENERATION = "pod-template-generation";

export type ReadRunning = ReturnType<typeof createRunningReader>;

/** So many different specs of the pods of a set are kept, as many as admission makes; with more, one for the same images. */
const MAX_SPECS = 100;

/**
 * Reads the registrars of a running pod, as admission left them. Pods of one template that it changed in the same way share
 * one result, which keeps 25,000 pods small.
 */
export function createRunningReader(ours?: OurImage) {
  const read = (set: RegistrarSet, spec: Tree, namespace: unknown, generation: string | undefined) => {
    const whole = { kind: "Pod", metadata: { namespace }, spec };
    const known = registrarsIn(set.uid, tell(set.place), whole, ours);
    const dropped = droppedFrom(spec, set, generation);
    const isAll = known.length + itemsOf(dropped).length >= set.registrars.length;
    return {
      /** Of an older template, or as admission left it, another container may be one. */
      registrars: listFrom(known).with(unsoughtIf(!isAll, "pods", set.name)),
      /** The containers with a registrar that the DaemonSet has, and the pod made from it has not. */
      dropped,
    };
  };
  const known = new Map<string, ReturnType<typeof read>>();
  const specs = new Map<RegistrarSet, number>();
  return (pod: Tree, set: RegistrarSet) => {
    const { nodeName, affinity, ...spec } = tree(pod.spec);
    const { labels, namespace } = tree(pod.metadata);
    const generation = textOrNone(tree(labels)[GENERATION]);
    const keyOf = (what: unknown) =>
      JSON.stringify([set.uid, generation, what]).replace(/kube-api-access-\w+/g, "");
    const count = specs.get(set) ?? 0;
    const whole = keyOf(spec);
    const key = known.has(whole) || count < MAX_SPECS ? whole : keyOf(imagesIn(spec));
    const running = known.get(key) ?? read(set, spec, namespace, generation);
    if (!known.has(key)) specs.set(set, count + 1);
    known.set(key, running);
    return running;
  };
}

const imagesIn = (spec: Tree) => containersIn(spec).map(({ name, image }) => [text(name), text(image)]);

/** A pod of an older template may never have had the container. */
function droppedFrom(spec: Tree, set: RegistrarSet, generation: string | undefined): SeenList<string> {
  const names = containersIn(spec).map(({ name }) => text(name));
  const missing = set.registrars
    .map(({ about }) => tell<string>(about.container))
    .filter((container) => !names.includes(container));
  const isKnown = missing.length === 0 || (generation !== undefined && generation === tell(set.generation));
  return listFrom(isKnown ? missing : { kind: "unread", gap: beyond("pods", set.name) });
}
