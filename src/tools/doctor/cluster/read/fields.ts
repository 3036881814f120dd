import { refuse } from "../../../../base/errors";
import { bool, list, type Tree, text, timeOrNone, tree } from "../../../../kube-api/objects";
import type { Unread } from "../../findings/seen";

// What objects of several kinds have.

/** What an object does not say, or not yet. */
export const notWritten = <Part extends string>(part: Part, subject: string, text: string): Unread<Part> => ({
  ...{ kind: "unread", gap: { part, subject, why: { kind: "object", text } } },
});

/** The objects that it belongs to. */
export const ownersOf = ({ ownerReferences }: Tree) =>
  list(ownerReferences).map((one) => {
    const { uid, kind, name, apiVersion, controller } = tree(one);
    const [group = ""] = /^[^/]*\..*(?=\/)/.exec(text(apiVersion)) ?? [];
    return {
      uid: text(uid),
      /** As kubectl takes it: with an API group that Kubernetes' own workloads do not have. */
      kind: [text(kind), group].filter(Boolean).join("."),
      name: text(name),
      isController: bool(controller),
    };
  });

/** The drivers of a pod's inline volumes. */
export const inlineDriversOf = (spec: unknown): readonly string[] =>
  list(tree(spec).volumes).flatMap((volume) => {
    const { csi } = tree(volume);
    return csi === undefined ? [] : text(tree(csi).driver);
  });

/** The clocks of nodes and API servers differ by less. */
const SKEW_MS = 60_000;

/** A time that had passed when the API server sent it. Throws for one in the future: how long ago it was is not known. */
export function pastOrNone(value: unknown, sentMs: number): number | undefined {
  const ms = timeOrNone(value);
  if (ms !== undefined && ms - sentMs >= SKEW_MS)
    refuse("it has a time in the future: the clock of a node or of an API server is wrong");
  return ms;
}

export const conditionsOf = (status: unknown, sentMs = Number.POSITIVE_INFINITY) =>
  list(tree(status).conditions).map((one) => {
    const { type, status, message, lastTransitionTime } = tree(one);
    return {
      type: text(type),
      status: text(status),
      message: text(message),
      changedMs: pastOrNone(lastTransitionTime, sentMs),
    };
  });

export const phaseOf = (status: unknown): string => text(tree(status).phase);

/** All containers of a pod have ended for good. */
export const hasEnded = (status: unknown): boolean => ["Failed", "Succeeded"].includes(phaseOf(status));
