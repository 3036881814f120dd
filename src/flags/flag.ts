import type { CamelCaseKey } from "yargs";
import type { FlagForm } from "./grammar";

/** One flag: a row of a table from which the parser, the typed values and the help follow. */
export interface Flag<Item = unknown> extends FlagForm {
  readonly describe: string;
  readonly parse: (text: string) => Item;
  /** Makes the value out of all that were given. Without it the last one counts. */
  readonly join?: (items: readonly never[]) => unknown;
  /** The value when it is not given, as a user would type it. */
  readonly default?: string;
  /** Ends the name of the value: that of a duration is in milliseconds. */
  readonly unit?: "Ms";
}

export type FlagRows = Readonly<Record<string, Flag>>;

export type ValueOf<Row> = Row extends { readonly join: (items: never) => infer Value }
  ? Value
  : Row extends { readonly parse: (text: string) => infer Value }
    ? Value
    : never;

/** `--csi-address` is `csiAddress`, a duration such as `--timeout` is `timeoutMs`. */
export type FieldOf<Name extends PropertyKey, Row> = Row extends { readonly unit: "Ms" }
  ? `${CamelCaseKey<Name> & string}Ms`
  : CamelCaseKey<Name>;

export function fieldOf(name: string, { unit }: Pick<Flag, "unit"> = {}): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) + (unit ?? "");
}

/** The value of a flag that was given as these. */
export function joinedValue({ join }: Flag, items: readonly unknown[]): unknown {
  return join ? join(items as readonly never[]) : items.at(-1);
}
