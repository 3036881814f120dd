import { close, itemsOf, type Key, keyIn, type Name } from "../../findings/opened";
import { inOrder, placedAt, type SeenList } from "../../findings/seen";
import { LONG_MS, type RegistrarPod } from "./pod";
import type { RegistrarUnit } from "./units";

/** What tells that a driver is, or should be, on a node: a pod of its registrar, its CSINode, or what needs it. */
export interface Mention {
  readonly driver: Name;
  readonly node: string | undefined;
  readonly pod?: RegistrarPod | undefined;
  readonly unit?: RegistrarUnit;
}

/** Each pod without a node is a place of its own, and so is each guess. */
export const keyOfPlace = ({ node, pod, driver }: Pick<Mention, "driver" | "node" | "pod">): Key =>
  close({}, { key: JSON.stringify([node ?? pod?.name, keyIn(driver)]), gaps: [] });
/** The name of a pod has its namespace in it. */
const nodeIn = (key: string): string | undefined => /^\["([^"/]*)"/.exec(key)?.[1];

/** Place by place: the mentions by pods, those that are not over first; and of these those that have long run. */
export const mentionsByPlace = (all: SeenList<Mention>, nowMs: number) =>
  inOrder(all.grouped(keyOfPlace, placedAt({ node: nodeIn })), ({ first }) => keyIn(keyOfPlace(first))).map(
    (group) => {
      const ofPods = itemsOf(group).filter(({ pod }) => pod);
      const ranked = (isOver: boolean) =>
        ofPods
          .filter(({ pod }) => pod?.isOver === isOver)
          .toSorted((one, other) => rankOf(one) - rankOf(other));
      const all = [false, true].flatMap(ranked);
      const living = ofPods.filter(({ pod }) => pod?.isOver === false);
      const settled = living.filter(({ pod }) => nowMs - startOf(pod) >= LONG_MS);
      return { mention: group.first, all, living, settled };
    },
  );

/** Of two pods of a DaemonSet on a node: the one with a trouble, then the older one. */
const rankOf = ({ pod }: Mention): number => (pod && itemsOf(pod.trouble).length > 0 ? 0 : startOf(pod));
const startOf = (pod: RegistrarPod | undefined) =>
  (pod && itemsOf(pod.started)[0]) ?? Number.MAX_SAFE_INTEGER;
