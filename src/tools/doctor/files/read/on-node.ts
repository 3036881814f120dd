import { isTemplate } from "../../../recognise/rule";
import { grouped, remembered, sortedBy } from "../../findings/grouped";
import { gapsOf, itemsOf, open, tell } from "../../findings/opened";
import { lackingIn, listFrom, type SeenList } from "../../findings/seen";
import { comesBefore } from "./identity";
import type { RegistrarContainer } from "./registrars";

export type ServingOnNode = ReturnType<typeof servingOnNode>;

/**
 * The registrars of other objects that may serve the same port of the node's network as this one, and whose place is before its own.
 * Of those that answer each question alike there is one, so that thousands do not make millions of pairs.
 */
export function servingOnNode(registrars: SeenList<RegistrarContainer>) {
  const onNode = registrars.filter(({ isForWindows, isOnNode }) => isForWindows.not().and(isOnNode));
  const by = onNode.by(portOf);
  const alikeAt = remembered((port) => {
    const all = [port, UNTOLD].flatMap((key) => itemsOf(by(key)));
    const compared = all.map((one) => ({ one, name: tell(one.identity).name }));
    return [...grouped(compared, ({ one }) => likeOf(one)).values()];
  });
  return (port: string, { place, identity, about }: RegistrarContainer) => {
    const { name } = tell(identity);
    const found = alikeAt(port).flatMap((alike) =>
      [true, false].flatMap((isNamesake) => {
        const isFound = (its: (typeof alike)[number]) =>
          (its.name === name) === isNamesake &&
          comesBefore(its.one.place, place) &&
          its.one.about.object !== about.object;
        return alike.find(isFound)?.one ?? [];
      }),
    );
    return listFrom(sortedBy(found, (one) => one.about.object)).with(lackingIn(onNode));
  };
}

/** The key of those whose arguments do not tell a port. */
const UNTOLD = "untold";
const portOf = ({ served }: RegistrarContainer) =>
  itemsOf(served).map(({ port }) => `${port}`)[0] ?? (gapsOf(served.contains()).length > 0 ? UNTOLD : "");

/** Equal of two that differ in nothing but their names. A name that is not filled in may be any. */
function likeOf({ served, pool, identity }: RegistrarContainer): string {
  const { name, ...more } = tell(identity);
  const addresses = itemsOf(served).map(({ on, host }) => [open(on), open(host)]);
  const { whole } = tell(pool);
  return JSON.stringify([addresses, gapsOf(served.contains()), whole, more, isTemplate(name) ? name : ""]);
}
