import { bool, list, type Tree, text, timeOrNone, tree } from "../../../../kube-api/objects";

// What objects of several kinds have.

/** The objects that it belongs to. */
export const ownersOf = ({ ownerReferences }: Tree) =>
  list(ownerReferences).map((one) => {
    const { uid, kind, name, controller } = tree(one);
    return { uid: text(uid), kind: text(kind), name: text(name), isController: bool(controller) };
  });

export const conditionsOf = (status: unknown) =>
  list(tree(status).conditions).map((one) => {
    const { type, status, message, lastTransitionTime } = tree(one);
    return {
      type: text(type),
      status: text(status),
      message: text(message),
      changedMs: timeOrNone(lastTransitionTime),
    };
  });

export const phaseOf = (status: unknown): string => text(tree(status).phase);

/** All containers of a pod have ended for good. */
export const hasEnded = (status: unknown): boolean => ["Failed", "Succeeded"].includes(phaseOf(status));
