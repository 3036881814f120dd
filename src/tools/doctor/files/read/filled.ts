import { anyText, numberOrNone } from "../../../../kube-api/objects";
import { isTemplate } from "../../../recognise/rule";
import { type Flaw, listFrom, looked, type SeenList, type Unread } from "../../findings/seen";

// What is not known of an object in a file: a placeholder may be in the place of each text and number.

export const unread = (flaw: Flaw, at: string, subject = ""): Unread => ({
  ...{ kind: "unread", gap: { part: "files", subject, why: { kind: "flaw", flaw, at } } },
});

/** What is made of a field; unread while a placeholder in it is not filled in. `name` is the field's, for people. */
export const filled = <Field extends string | number, Made = Field>(
  field: Field,
  name = "",
  ...made: readonly [Made] | readonly []
) =>
  looked(
    isTemplate(`${field}`) ? unread("placeholder", `${field}`, name) : undefined,
    (made.length > 0 ? made[0] : field) as Made,
  );

/** A list that lacks what the first placeholder in these texts of `subject` may stand for. */
export function allFilled<Item>(
  items: readonly Item[],
  texts: readonly string[],
  subject: string,
): SeenList<Item> {
  const open = texts.find(isTemplate);
  const lacking = open === undefined ? [] : unread("placeholder", open, subject);
  return listFrom(items).with(listFrom<Item>(lacking));
}

/** A number as text; empty if it is absent. A placeholder stays as it is. */
export const numberOrOpen = (value: unknown): string =>
  typeof value === "string" && isTemplate(value) ? value : anyText(numberOrNone(value));
