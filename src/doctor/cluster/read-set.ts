import { invalidOption } from "../../base/errors";
import type { ReadSettings } from "../manifest/deployment";
import { readDeployments } from "../manifest/read-deployments";
import { list, numberOrNone, text, tree } from "../rules/objects";
import type { RegistrarSet } from "./facts";

/** A DaemonSet with a registrar in it; undefined for any other. Throws INVALID_OPTION for one that cannot be judged. */
export function readRegistrarSet(object: unknown, settingsOf: ReadSettings): RegistrarSet | undefined {
  const daemonSet = { ...tree(object), kind: "DaemonSet" };
  const { deployments, unread } = readDeployments([{ file: undefined, object: daemonSet }], settingsOf);
  if (unread[0] !== undefined) throw invalidOption(unread[0].why);
  if (deployments.length === 0) return undefined;
  const { metadata, spec, status } = tree(object);
  const { uid, namespace, name } = tree(metadata);
  const { desiredNumberScheduled, currentNumberScheduled } = tree(status);
  return {
    uid: text(uid),
    name: `${text(namespace)}/${text(name)}`,
    selector: selectorOf(tree(spec).selector),
    registrars: deployments,
    desired: numberOrNone(desiredNumberScheduled) ?? 0,
    current: numberOrNone(currentNumberScheduled) ?? 0,
    words: wordsIn(tree(tree(tree(spec).template).spec).containers),
  };
}

/** A LabelSelector in the form that `labelSelector` of a list has. */
export function selectorOf(selector: unknown): string {
  const { matchLabels, matchExpressions } = tree(selector);
  const equal = Object.entries(tree(matchLabels)).map(([key, value]) => `${key}=${text(value)}`);
  const others = list(matchExpressions).map((expression) => {
    const { key, operator, values } = tree(expression);
    const among = `(${list(values).map(text).join(",")})`;
    switch (operator) {
      case "In":
        return `${text(key)} in ${among}`;
      case "NotIn":
        return `${text(key)} notin ${among}`;
      case "DoesNotExist":
        return `!${text(key)}`;
      default:
        return text(key);
    }
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
