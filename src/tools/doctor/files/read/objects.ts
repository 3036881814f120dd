import { messageOf } from "../../../../base/errors";
import { anyTree, text } from "../../../../kube-api/objects";
import { boundText } from "../../../../logging/escape";

/** `NAMESPACE/NAME`; the name alone of an object without a namespace. */
export function nameOf(object: unknown): string {
  const { namespace, name } = anyTree(anyTree(object).metadata);
  return [namespace, name].map(text).filter(Boolean).join("/");
}

/** `daemonset.yaml: DaemonSet kube-system/csi-x-node`. */
export function placeIn(file: string | undefined, object: unknown): string {
  const named = [text(anyTree(object).kind), nameOf(object)].filter(Boolean).join(" ");
  return [file, named].filter(Boolean).join(": ");
}

export interface Unread {
  readonly place: string;
  readonly why: string;
  readonly advice?: string;
}

export function unreadAt(place: string, error: unknown): Unread {
  const why = error instanceof RangeError ? "it is nested too deeply" : boundText(messageOf(error), 500);
  return { place, why };
}
