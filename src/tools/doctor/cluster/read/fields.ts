import {
  bool,
  list,
  needed,
  type Tree,
  text,
  textOrNone,
  timeOrNone,
  tree,
} from "../../../../kube-api/objects";

// What objects of several kinds have. A field that the API server always sets is unread where it is missing.

/** The objects that it belongs to. */
export const ownersOf = ({ ownerReferences }: Tree) =>
  list(ownerReferences).map((one) => {
    const { uid, kind, name, controller } = tree(one);
    const own = (field: string, value: unknown) => needed(`${field} of an owner`, textOrNone(value));
    return {
      ...{ uid: own("uid", uid), kind: own("kind", kind), name: own("name", name) },
      isController: bool(controller),
    };
  });

export const conditionsOf = (status: unknown) =>
  list(tree(status).conditions).map((one) => {
    const { type, status, message, lastTransitionTime } = tree(one);
    return {
      type: needed("type of a condition", textOrNone(type)),
      status: needed("status of a condition", textOrNone(status)),
      message: text(message),
      changedMs: timeOrNone(lastTransitionTime),
    };
  });

export const phaseOf = (status: unknown): string => needed("status.phase", textOrNone(tree(status).phase));

/** All containers of a pod have ended for good. */
export const hasEnded = (status: unknown): boolean => ["Failed", "Succeeded"].includes(phaseOf(status));
