import { attempt, refuse } from "../base/errors";
import { nearWord } from "../base/near-word";
import { directoryPath, type OptionKind, socketPathKind } from "../options/option-kinds";
import { parseBool, parseDurationMs } from "./values";

// The kinds of flags of our own commands. The user reads what `parse` throws after the flag's name.

export const textFlag = <Value = string>(
  describe: string,
  parse: (text: string) => Value = (text) => text as Value,
): { readonly describe: string; readonly parse: (text: string) => NoInfer<Value> } => ({ describe, parse });

/** Takes what an option of the library takes. */
export const optionFlag =
  <Value>({ takes, read }: OptionKind<Value>) =>
  (describe: string) =>
    textFlag(describe, (text) => attempt(() => read(text, describe)) ?? refuse(`"${text}" is not ${takes}`));

export const directoryFlag = optionFlag(directoryPath);
export const socketFlag = optionFlag(socketPathKind);

/** Takes a text that is not empty, as a shell makes of a variable that is not set. */
export const namedFlag = (describe: string) =>
  textFlag(describe, (text) => text || refuse("it must not be empty"));

/** Takes a text each time it is given; `parse` makes a value of each. */
export const listFlag = <Value = string>(describe: string, parse?: (text: string) => Value) => ({
  ...textFlag(describe, parse),
  join: (values: readonly Value[]) => values,
});

/** The same where `parse` makes a key and its value; the value of all is an object. Each key may be given once. */
export const pairsFlag = <Value>(
  describe: string,
  parse: (text: string) => readonly [key: string, value: Value],
) => ({
  ...textFlag(describe, parse),
  join: (pairs: readonly ReturnType<typeof parse>[]): Readonly<Record<string, Value>> => {
    const keys = pairs.map(([key]) => key);
    const twice = keys.find((key, at) => keys.indexOf(key) !== at);
    return twice === undefined
      ? Object.fromEntries(pairs)
      : refuse(`"${twice}" is given twice; give it one value`);
  },
});

/** Takes `500ms`, `1m30s`; the value is in milliseconds. */
export const durationFlag = (describe: string) => textFlag(describe, parseDuration);

/** Limit of a call, more than 0. */
export const timeoutFlag = (describe: string) =>
  textFlag(describe, (text) => parseDuration(text) || refuse("it must be greater than 0"));

export const countFlag = (describe: string) => textFlag(describe, parseCount);

/** A count of 1 or more. */
export const timesFlag = (describe: string) =>
  textFlag(describe, (text) => parseCount(text) || refuse("it must be greater than 0"));

export const choiceFlag = <Choice extends string>(describe: string, choices: readonly Choice[]) =>
  textFlag(`${describe}: ${choices.join(", ")}`, (text) => parseChoice(text, choices));

/** Takes several choices: separated by commas, and each time it is given. */
export const choicesFlag = <Choice extends string>(describe: string, choices: readonly Choice[]) => ({
  ...textFlag(`${describe}, with commas: ${choices.join(", ")}`, (text) =>
    text.split(",").map((word) => parseChoice(word, choices)),
  ),
  join: (lists: readonly (readonly Choice[])[]): readonly Choice[] => lists.flat(),
});

/** Takes the registrar's booleans, after `=` only; true without a value. */
export const switchFlag = (describe: string) => ({ ...textFlag(describe, parseSwitch), bare: "true" });

export const outputFlag = <const Form extends string>(
  describe: string,
  forms: readonly [Form, ...(readonly Form[])],
) => ({ ...choiceFlag<Form>(describe, forms), alias: "o", default: forms[0] });

export const eventOutputFlag = outputFlag("one line for each event, for people or for programs", [
  "text",
  "json",
]);

export const NAME_LIST_FLAGS = {
  "allow-drivers": textFlag("the registrar's own: these names only, a,b=/path,..."),
  "deny-drivers": textFlag("the registrar's own: not these names, a,b,..."),
} as const;

export function parseChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  const words = new Map(choices.map((candidate) => [candidate.toLowerCase(), candidate]));
  // Numbers get no suggestion, because every other number is equally near, nor do several values.
  const near = /^\d|,/.test(text) ? undefined : nearWord(text.toLowerCase(), words.keys());
  const one = text.includes(",") ? "; give one of them" : "";
  const hint = near === undefined ? `: ${choices.join(", ")}${one}` : `; did you mean ${words.get(near)}?`;
  return refuse(`"${text}" is not one of its values${hint}`);
}

function parseSwitch(text: string): boolean {
  return (
    attempt(() => parseBool(text)) ?? refuse(`"${text}" is not true or false; leave the value out for true`)
  );
}

export function parseDuration(text: string): number {
  const ms = attempt(() => parseDurationMs(text)) ?? -1;
  return ms >= 0 ? ms : refuse(`"${text}" is not a duration; write 500ms, 2s or 1m30s`);
}

function parseCount(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse(`"${text}" is not a whole number`);
}
