import { list, numberOrNone, text, textOrNone, tree } from "../../../kube-api/objects";
import { deploymentsIn } from "../../manifest/read/deployments";
import { foundIn, nameOf } from "../../manifest/read/objects";
import type { OurImage } from "../../manifest/read/program";

export type RegistrarSet = NonNullable<ReturnType<typeof readRegistrarSet>>;

/** Undefined for a DaemonSet without a registrar. Throws INVALID_OPTION for one that cannot be judged. */
export function readRegistrarSet(object: unknown, ours?: OurImage) {
  const name = nameOf(object);
  const daemonSet = { ...tree(object), kind: "DaemonSet" };
  const found = foundIn(null, daemonSet);
  const registrars = deploymentsIn(found, daemonSet, ours);
  if (registrars.length === 0) return undefined;
  const { metadata, spec, status } = tree(object);
  const { uid, namespace, annotations } = tree(metadata);
  const source = { kind: "DaemonSet", metadata: { namespace, name: tree(metadata).name }, spec };
  return {
    uid: text(uid),
    name,
    object: found,
    /** The `labelSelector` of a list of its pods. */
    selector: selectorOf(tree(spec).selector),
    registrars,
    /** The same, where these images are this registrar's. */
    registrarsWith: (images: OurImage) => deploymentsIn(found, source, images),
    /** The labels of its new pods. */
    podLabels: tree(tree(tree(tree(spec).template).metadata).labels),
    /** How its pods name the template that they are made from. */
    generation: textOrNone(tree(annotations)["deprecated.daemonset.template.generation"]),
    /** The number of nodes on which it wants a pod, and of those on which it has one. */
    desired: numberOrNone(tree(status).desiredNumberScheduled) ?? 0,
    current: numberOrNone(tree(status).currentNumberScheduled) ?? 0,
    /** One of them may be the driver's name. */
    words: wordsIn(tree(tree(tree(spec).template).spec).containers),
  };
}

function selectorOf(selector: unknown): string {
  const { matchLabels, matchExpressions } = tree(selector);
  const equal = Object.entries(tree(matchLabels)).map(([key, value]) => `${key}=${text(value)}`);
  const others = list(matchExpressions).map((expression) => {
    const { key, operator, values } = tree(expression);
    if (operator === "In" || operator === "NotIn")
      return `${text(key)} ${operator.toLowerCase()} (${list(values).map(text).join(",")})`;
    return `${operator === "DoesNotExist" ? "!" : ""}${text(key)}`;
  });
  return [...equal, ...others].join(",");
}

/** Arguments, and values behind `=` in them; values of the environment. */
function wordsIn(containers: unknown): ReadonlySet<string> {
  return new Set(
    list(containers).flatMap((container) => {
      const { command, args, env } = tree(container);
      const words = [...list(command), ...list(args)].map(text);
      const values = list(env).map((one) => text(tree(one).value));
      return [...words.flatMap((word) => [word, ...word.split("=").slice(1)]), ...values];
    }),
  );
}
