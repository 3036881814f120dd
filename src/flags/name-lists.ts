import { invalidOption } from "../base/errors";
import { quoteText } from "../logging/escape";
import { checkNameLists, type NameLists } from "../registrar/node-wide/name-lists";

/** The names that the flags allow and deny; an empty text allows every one. Throws INVALID_OPTION. */
export function nameListsFrom(flags: {
  readonly allowDrivers?: string | undefined;
  readonly denyDrivers?: string | undefined;
}): NameLists {
  const allow = namesOf("--allow-drivers", flags.allowDrivers);
  const lists = { ...(allow.length > 0 && { allow }), deny: namesOf("--deny-drivers", flags.denyDrivers) };
  checkNameLists(lists);
  return lists;
}

/** `a,b` as people write it in YAML: perhaps with spaces, or a comma at the end. */
function namesOf(flag: string, list = ""): readonly string[] {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  // "," would allow every driver: probably a template that had no names.
  if (list !== "" && names.length === 0)
    throw invalidOption(`${flag} ${quoteText(list)} names no driver: give names, or leave it out`);
  return names;
}
