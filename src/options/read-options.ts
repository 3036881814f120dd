import { invalidOption, RegistrarError } from "../base/errors";
import { nearWord } from "../base/near-word";
import { isObject, refuseOption, show } from "../base/refuse-option";
import { type OptionKind, oneOf } from "./option-kinds";

/** One option: returns the value to use for what was given, or for undefined. */
type Option<Value> = (given: unknown, name: string) => Value;

export type OptionTable<Options> = { readonly [Name in keyof Options]-?: Option<Options[Name]> };

export const required =
  <Value>(kind: OptionKind<Value>): Option<Value> =>
  (given, name) =>
    kind.read(given, name);

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
  refuseUnknown(whose, Object.keys(given), Object.keys(table));
  const options: Partial<Options> = {};
  for (const name of Object.keys(table) as (keyof Options & string)[]) {
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
    throw invalidOption(`${whose}: ${error.message}`, { cause: error.cause });
  }
}

function refuseUnknown(whose: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = nearWord(unknown, known);
  const all = known.length > 0 ? `there are ${known.join(", ")}` : "it takes none";
  const hint = meant ? `did you mean ${meant}?` : all;
  throw invalidOption(`${whose}: there is no option ${show(unknown)}; ${hint}`);
}

/** An object with options of its own. */
export function optionsOf<Options extends object>(table: OptionTable<Options>): OptionKind<Options> {
  const takes = `an object with ${Object.keys(table).join(", ")}`;
  return {
    takes,
    read: (given, name) =>
      isObject(given) ? readOptions(name, given, table) : refuseOption(name, given, takes),
  };
}

type VariantTables<Union extends { readonly kind: string }> = {
  readonly [Kind in Union["kind"]]: OptionTable<Omit<Extract<Union, { readonly kind: Kind }>, "kind">>;
};

/** A value of a union with the discriminant `kind`. */
export function variant<Union extends { readonly kind: string }>(
  tables: VariantTables<Union>,
): OptionKind<Union> {
  const kinds = Object.keys(tables) as Union["kind"][];
  const kindOption = oneOf(kinds);
  const takes = `an object whose kind is ${kindOption.takes}`;
  return {
    takes,
    read: (given, name) => {
      const { kind, ...fields } = Object(given) as { readonly kind?: unknown };
      if (kind === undefined) return refuseOption(name, given, takes);
      const known = kindOption.read(kind, `${name}.kind`);
      return { kind: known, ...readOptions<object>(name, fields, tables[known]) } as Union;
    },
  };
}
