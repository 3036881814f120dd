import { anyText, numberOrNone } from "../../../../kube-api/objects";
import { isTemplate } from "../../../recognise/rule";
import { named } from "../../findings/opened";
import { beyond, type Flaw, listFrom, looked, type SeenList, type Unread } from "../../findings/seen";

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

/** What an object calls something: with a placeholder it may be any other name, and is that of this `number`ed object alone. */
export const nameFrom = (text: string, number: number | string = 0) =>
  isTemplate(text) ? named(text, `${text} of ${number}`, [beyond("files")]) : named(text);

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

/** Those of them that have no placeholder. */
export const filledOf = (texts: readonly string[], subject = "") =>
  allFilled(
    texts.filter((one) => !isTemplate(one)),
    texts,
    subject,
  );

/** A number as text; empty if it is absent. A placeholder stays as it is. */
export const numberOrOpen = (value: unknown): string =>
  typeof value === "string" && isTemplate(value) ? value : anyText(numberOrNone(value));

/** The first place that a parameter fills in: `${NAME}`, or `${{NAME}}` for another value than a text. */
export function parameterIn(value: unknown, parameters: readonly string[]): string | undefined {
  if (parameters.length === 0 || value === null) return undefined;
  if (typeof value === "object")
    return Object.values(value).reduce<string | undefined>(
      (found, one) => found ?? parameterIn(one, parameters),
      undefined,
    );
  if (typeof value !== "string") return undefined;
  const places = Array.from(value.matchAll(/\$\{(?:(\w+)|\{(\w+)\})\}/g));
  return places.find(([, name, other]) => parameters.includes(name ?? other ?? ""))?.[0];
}

/** The first field's name with a placeholder: any field that is absent may be that one. */
export function openKeyIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).reduce<string | undefined>(
    (found, [key, one]) => found ?? (isTemplate(key) ? key : isFree(key) ? undefined : openKeyIn(one)),
    undefined,
  );
}
/** No check needs a key of these, or the one that does asks whether it is filled in. */
const isFree = (field: string) => ["labels", "annotations", "nodeSelector"].includes(field);
