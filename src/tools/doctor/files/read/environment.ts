import { bool, list, type Tree, text, tree } from "../../../../kube-api/objects";
import { NODE_NAME_VARIABLES } from "../../../../node-readiness/options";
import { isTemplate } from "../../../recognise/rule";
import { refuseFlaw, type Truth, truth } from "../../findings/seen";
import { unread } from "./filled";

// The environment of a container, and what kubelet makes of its variables.

/** A `$(NAME)` whose value is not in the object. */
export interface OpenVariable {
  readonly name: string;
  /** It may have a value at run time; without one kubelet leaves the `$(NAME)` as it is. */
  readonly isElsewhere: boolean;
  /** Its value is an address of the pod or its node, whichever that is. */
  readonly isAddress: boolean;
  /** A field of the pod, which is never empty: a ConfigMap's key may be missing, or empty. */
  readonly isField: boolean;
}

export interface FilledIn {
  readonly text: string;
  readonly open: readonly OpenVariable[];
}

/** Linux' limits of one argument or variable (MAX_ARG_STRLEN), and of all of them (ARG_MAX). */
const MAX_ARGUMENT_LENGTH = 2 ** 17;
const MAX_ARGUMENTS_LENGTH = 2 ** 21;

/** Kubelet adds variables for the namespace's services. */
const OF_SERVICE = /_SERVICE_HOST$|_SERVICE_PORT(?:_\w+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/;

/**
 * Fills in `$(NAME)` from the container's environment as kubelet does. Throws INVALID_OPTION if the result is longer than a
 * program's arguments can be.
 */
export function environmentOf({ env, envFrom }: Tree): (word: string) => FilledIn {
  const values = new Map<string, FilledIn | undefined>();
  const fields = new Map<string, string>();
  const hasMore =
    list(envFrom).map(tree).length > 0 || list(env).some((one) => isTemplate(text(tree(one).name)));
  let total = 0;
  const fill = (word: string): FilledIn => {
    const open: OpenVariable[] = [];
    let length = 0;
    const refuseLong = (more: number) => {
      length += more;
      total += more;
      if (length > MAX_ARGUMENT_LENGTH || total > MAX_ARGUMENTS_LENGTH) refuseFlaw("variables");
    };
    const filledIn = word.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name?: string) => {
      if (name === undefined) return "$";
      const value = values.get(name);
      const isElsewhere = hasMore || values.has(name) || OF_SERVICE.test(name);
      refuseLong(value?.text.length ?? whole.length);
      const field = fields.get(name);
      const isAddress = field !== undefined && ADDRESSES.includes(field);
      open.push(...(value?.open ?? [{ name, isElsewhere, isAddress, isField: field !== undefined }]));
      return value?.text ?? whole;
    });
    return { text: filledIn, open };
  };
  // One that comes from elsewhere hides what had its name before.
  for (const { name, value, valueFrom } of list(env).map(tree)) {
    values.set(text(name), valueFrom === undefined ? fill(text(value)) : undefined);
    const { fieldRef, resourceFieldRef } = tree(valueFrom);
    const field = text(tree(fieldRef).fieldPath);
    fields.delete(text(name));
    if (resourceFieldRef !== undefined || (field !== "" && !MAY_BE_EMPTY.test(field)))
      fields.set(text(name), field);
  }
  return fill;
}
const ADDRESSES = ["status.podIP", "status.hostIP"];
const MAY_BE_EMPTY = /^metadata\.(?:labels|annotations)/;

export const isIn = (word: string, { name }: OpenVariable): boolean => word.includes(`$(${name})`);
/** Only kubelet fills in a `$(NAME)`, and leaves one without a value as it is. */
export const withoutVariables = (text: string): string => text.replaceAll(/\$\([^)]*\)/g, "");

/** Where a variable comes from: a field, or a key of another object. Throws for one of another type. */
function sourceOf(valueFrom: unknown): Tree {
  const source = tree(valueFrom);
  for (const one of Object.values(source).map(tree))
    for (const part of [one.fieldPath, one.name, one.key, one.resource]) text(part);
  return source;
}

/** Whether the environment has the node's name: an optional key, a label or a placeholder may be empty. */
export function knowsNodeName({ env, envFrom }: Tree): Truth {
  const named = list(env)
    .map(tree)
    .flatMap(({ name, value, valueFrom }) => {
      const { fieldRef, resourceFieldRef, ...keys } = sourceOf(valueFrom);
      const [own, path, written] = [text(name), text(tree(fieldRef).fieldPath), text(value)];
      const isSet = fieldRef !== undefined || Object.keys(keys).length > 0 || written !== "";
      if (!isSet || !(isTemplate(own) || NODE_NAME_VARIABLES.includes(own))) return [];
      const mayBeEmpty =
        Object.values(keys).some((key) => bool(tree(key).optional)) || MAY_BE_EMPTY.test(path);
      const open = [own, path, withoutVariables(written)].find(isTemplate);
      return { open: open ?? (mayBeEmpty ? own : undefined) };
    });
  if (named.some(({ open }) => open === undefined)) return truth(true);
  const open = named[0]?.open ?? (list(envFrom).map(tree).length > 0 ? "its envFrom" : undefined);
  return truth(open !== undefined && unread("placeholder", open).gap);
}
