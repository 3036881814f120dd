import { invalidOption, RegistrarError } from "../base/errors";
import { nearWord } from "../base/near-word";
import { isObject, kindOf, type OptionKind, oneOf, show } from "./option-kinds";

/** One option: returns the value to use for what was given, or for undefined. */
type Option<Value> = (given: unknown, name: string) => Value;

export type OptionTable<Options> = { readonly [Name in keyof Options]-?: Option<Options[Name]> };

export const required = <Value>(kind: OptionKind<Value>): Option<Value> => kind.read;

export function optional<Value>(kind: OptionKind<Value>): Option<Value | undefined>;
export function optional<Value>(kind: OptionKind<Value>, byDefault: Value): Option<Value>;
export function optional<Value>(kind: OptionKind<Value>, byDefault?: Value): Option<Value | undefined> {
  return (given, name) => (given === undefined ? byDefault : kind.read(given, name));
}

/**
 * Reads options by their table: fills in the defaults and omits what stays undefined. Throws INVALID_OPTION for unusable
 * values and unknown names; the message begins with `whose`, the function that was called.
 */
export function readOptions<Options extends object>(
  whose: string,
  given: unknown,
  table: OptionTable<Options>,
): Options {
  if (!isObject(given)) throw invalidOption(`${whose} takes an object of options, not ${show(given)}`);
  const names = Object.keys(table) as (keyof Options & string)[];
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined) {
    const byFlag = unknown.replace("kubeletRegistrationPath", "endpoint");
    const meant = nearWord(byFlag, names);
    const others = names.length > 0 ? `there are ${names.join(", ")}` : "it takes none";
    const hint = meant ? `did you mean ${meant}?` : others;
    throw invalidOption(`${whose}: there is no option ${show(unknown)}; ${hint}`);
  }
  const options: Partial<Options> = {};
  for (const name of names) {
    const value = table[name]((given as Partial<Record<string, unknown>>)[name], `${whose}: ${name}`);
    if (value !== undefined) options[name] = value;
  }
  return options as Options;
}

/** What `check` returns. The message of an INVALID_OPTION that it throws gets `whose` in front. */
export function checkFor<Value>(whose: string, check: () => Value): Value {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RegistrarError) || error.code !== "INVALID_OPTION") throw error;
    throw invalidOption(`${whose}: ${error.message}`);
  }
}

export const optionsOf = <Options extends object>(table: OptionTable<Options>): OptionKind<Options> =>
  kindOf(`an object with ${Object.keys(table).join(", ")}`, (given, name) =>
    isObject(given) ? readOptions(name, given, table) : undefined,
  );

type VariantTables<Union extends { readonly kind: string }> = {
  readonly [Kind in Union["kind"]]: OptionTable<Omit<Extract<Union, { readonly kind: Kind }>, "kind">>;
};

export function variant<Union extends { readonly kind: string }>(
  tables: VariantTables<Union>,
): OptionKind<Union> {
  const kindOption = oneOf(Object.keys(tables) as Union["kind"][]);
  return kindOf(`an object whose kind is ${kindOption.takes}`, (given, name) => {
    const { kind, ...fields } = Object(given) as { readonly kind?: unknown };
    if (kind === undefined) return undefined;
    const known = kindOption.read(kind, `${name}.kind`);
    return { kind: known, ...readOptions<object>(name, fields, tables[known]) } as Union;
  });
}
