import { messageOf } from "../../../../base/errors";
import { text, tree } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";
import type { FoundObject } from "../../findings/finding";

export interface ReadObject {
  readonly file: string;
  readonly object: unknown;
}

/** `NAMESPACE/NAME`; the name alone of an object without a namespace. */
export function nameOf(object: unknown): string {
  const { namespace, name } = tree(tree(object).metadata);
  return [namespace, name].map(text).filter(Boolean).join("/");
}

export function foundIn(file: string | null, object: unknown = {}): FoundObject {
  const { kind, metadata } = tree(object);
  const { namespace, name } = tree(metadata);
  const field = (value: unknown) => text(value) || null;
  return { file, kind: field(kind), namespace: field(namespace), name: field(name), container: null };
}

/** `daemonset.yaml: DaemonSet kube-system/csi-x-node, container registrar`. */
export function placeText({ file, kind, namespace, name, container }: FoundObject): string {
  const object = [kind, [namespace, name].filter(Boolean).join("/")].filter(Boolean).join(" ");
  const place = [file, object].filter(Boolean).join(": ");
  return container === null ? place : `${place}, container ${container}`;
}

export interface Unread {
  readonly place: string;
  readonly object?: FoundObject;
  readonly why: string;
  readonly advice?: string;
}

export interface FilesRead {
  readonly files: readonly string[];
  readonly objects: readonly ReadObject[];
  readonly unread: readonly Unread[];
}

export function unreadAt(place: string, error: unknown, object?: FoundObject): Unread {
  const why = error instanceof RangeError ? "it is nested too deeply" : boundText(messageOf(error), 500);
  return { place, ...(object && { object }), why };
}
